// A film of the picture, as the browser itself encodes it.

export const LONGEST_FILM = 30; // seconds
export const FEWEST_FRAMES = 12; // of a film, on a machine that draws slowly
const RATE = 30; // frames a second

/** Films a canvas until it is done, as WebM. */
export function recordCanvas(canvas: HTMLCanvasElement, isDone: () => boolean): Promise<Blob> {
  return new Promise((resolve, reject) => {
    if (typeof MediaRecorder === 'undefined') {
      reject(new Error('this browser cannot record'));
      return;
    }
    const stream = canvas.captureStream(RATE), parts: Blob[] = [];
    const recorder = new MediaRecorder(stream, { mimeType: 'video/webm', videoBitsPerSecond: 8e6 });
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onerror = () => reject(new Error('recording failed'));
    recorder.onstop = () => {
      stream.getTracks().forEach((track) => track.stop());
      resolve(new Blob(parts, { type: 'video/webm' }));
    };
    recorder.start();
    const timer = setInterval(() => {
      if (isDone()) {
        clearInterval(timer);
        recorder.stop();
      }
    }, 50);
  });
}

export function saveFile(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob), link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
