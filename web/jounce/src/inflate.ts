// Inflate (RFC 1951), for the module that travels as text. DecompressionStream would do the same, but the browsers that need the
// scalar module do not have it.

const LENGTH_BASE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577];
const DISTANCE_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const LONGEST = 15; // bits of a code
const END_OF_BLOCK = 256;

/** A canonical Huffman code: how many codes of each length there are, and the symbols by code. */
interface Code {
  counts: Uint16Array;
  symbols: Uint16Array;
}

function makeCode(lengths: ArrayLike<number>): Code {
  const counts = new Uint16Array(LONGEST + 1), starts = new Uint16Array(LONGEST + 2), symbols = new Uint16Array(lengths.length);
  for (let i = 0; i < lengths.length; ++i) {
    counts[lengths[i]] += 1;
  }
  counts[0] = 0;
  for (let bits = 1; bits <= LONGEST; ++bits) {
    starts[bits + 1] = starts[bits] + counts[bits];
  }
  for (let i = 0; i < lengths.length; ++i) {
    if (lengths[i] > 0) {
      symbols[starts[lengths[i]]++] = i;
    }
  }
  return { counts, symbols };
}

class Reader {
  private at = 0;
  private held = 0;
  private bits = 0;

  constructor(private readonly bytes: Uint8Array) {}

  take(count: number): number {
    while (this.bits < count) {
      if (this.at >= this.bytes.length) {
        throw new RangeError('deflated data ends too early');
      }
      this.held |= this.bytes[this.at++] << this.bits;
      this.bits += 8;
    }
    const value = this.held & ((1 << count) - 1);
    this.held >>>= count;
    this.bits -= count;
    return value;
  }

  symbol({ counts, symbols }: Code): number {
    for (let bits = 1, code = 0, first = 0, index = 0; bits <= LONGEST; ++bits) {
      code |= this.take(1);
      if (code - first < counts[bits]) {
        return symbols[index + code - first];
      }
      index += counts[bits];
      first = (first + counts[bits]) << 1;
      code <<= 1;
    }
    throw new RangeError('deflated data has a code that means nothing');
  }

  /** The bytes of a stored block. */
  stored(): Uint8Array {
    this.held = this.bits = 0;
    const length = this.take(16);
    this.take(16);
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

const range = (length: number, value: (i: number) => number) => Array.from({ length }, (_, i) => value(i));

function readCodes(reader: Reader): [literals: Code, distances: Code] {
  const literals = reader.take(5) + 257, distances = reader.take(5) + 1, lengths: number[] = [], short = new Uint8Array(19);
  for (let i = reader.take(4) + 4, k = 0; k < i; ++k) {
    short[CODE_ORDER[k]] = reader.take(3);
  }
  const code = makeCode(short);
  while (lengths.length < literals + distances) {
    const symbol = reader.symbol(code);
    if (symbol < 16) {
      lengths.push(symbol);
    } else {
      const value = symbol === 16 ? lengths[lengths.length - 1] : 0;
      const times = symbol === 16 ? 3 + reader.take(2) : symbol === 17 ? 3 + reader.take(3) : 11 + reader.take(7);
      lengths.push(...range(times, () => value));
    }
  }
  return [makeCode(lengths.slice(0, literals)), makeCode(lengths.slice(literals, literals + distances))];
}

const fixedCodes = (): [Code, Code] => [
  makeCode(range(288, (i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8))), makeCode(range(30, () => 5))];

/** Unpacks raw deflate data whose size is known. */
export function inflate(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const reader = new Reader(bytes), out = new Uint8Array(size);
  let at = 0, last = 0;
  while (!last) {
    last = reader.take(1);
    const kind = reader.take(2);
    if (kind === 0) {
      const part = reader.stored();
      out.set(part, at);
      at += part.length;
      continue;
    }
    const [literals, distances] = kind === 1 ? fixedCodes() : readCodes(reader);
    for (let symbol = reader.symbol(literals); symbol !== END_OF_BLOCK; symbol = reader.symbol(literals)) {
      if (symbol < END_OF_BLOCK) {
        out[at++] = symbol;
        continue;
      }
      const length = LENGTH_BASE[symbol - 257] + reader.take(LENGTH_BITS[symbol - 257]), place = reader.symbol(distances);
      const distance = DISTANCE_BASE[place] + reader.take(DISTANCE_BITS[place]);
      for (let i = 0; i < length; ++i, ++at) {
        out[at] = out[at - distance];
      }
    }
  }
  if (at !== size) {
    throw new RangeError(`deflated data has ${at} bytes, not ${size}`);
  }
  return out;
}
