using System;
using System.Runtime.InteropServices;
using System.Text;

namespace Jounce
{
    /// <summary>A clip of an asset.</summary>
    public struct Clip
    {
        public string Name;
        /// <summary>Frames a second.</summary>
        public double Rate;
        public int FrameCount;
        public bool Looping;
    }

    /// <summary>A character file: read-only, shared by all characters that are made from it. Dispose it after them.</summary>
    public sealed class Asset : IDisposable
    {
        private IntPtr handle;
        private GCHandle bytes;

        /// <summary>Loads the bytes of a .jounce file. They stay pinned as long as the asset lives.</summary>
        public Asset(byte[] file)
        {
            if (file == null)
            {
                throw new ArgumentNullException("file");
            }
            Native.CheckLibrary();
            bytes = GCHandle.Alloc(file, GCHandleType.Pinned);
            try
            {
                Native.Try(error =>
                {
                    var def = new NativeAssetDef { Bytes = bytes.AddrOfPinnedObject(), Size = (UIntPtr)(ulong)file.LongLength };
                    return Native.jnLoadAsset(ref def, out handle, error);
                });
            }
            catch
            {
                bytes.Free();
                throw;
            }
            AssetCounts counts;
            Native.jnAsset_Counts(handle, out counts);
            Counts = counts;
        }

        /// <summary>How many joints, vertices, weights and so on.</summary>
        public AssetCounts Counts { get; }
        internal IntPtr Handle
        {
            get
            {
                if (handle == IntPtr.Zero)
                {
                    throw new ObjectDisposedException("Asset");
                }
                return handle;
            }
        }

        /// <summary>The name of a joint.</summary>
        public string JointName(int joint)
        {
            return Marshal.PtrToStringAnsi(Joint(joint));
        }

        /// <summary>The parent of a joint; -1 for a root.</summary>
        public int JointParent(int joint)
        {
            return Marshal.ReadInt32(Joint(joint), Native.NameLength);
        }

        private IntPtr Joint(int joint)
        {
            if (joint < 0 || joint >= Counts.Joints)
            {
                throw new ArgumentOutOfRangeException("joint");
            }
            return Native.jnAsset_Joint(Handle, joint);
        }

        /// <summary>A clip by index.</summary>
        public Clip Clip(int index)
        {
            if (index < 0 || index >= Counts.Clips)
            {
                throw new ArgumentOutOfRangeException("index");
            }
            NativeClip clip = Native.jnAsset_Clip(Handle, index);
            return new Clip
            {
                Name = Marshal.PtrToStringAnsi(clip.Name),
                Rate = clip.Rate,
                FrameCount = clip.FrameCount,
                Looping = clip.Looping != 0,
            };
        }

        /// <summary>A morph target: [FileVertices][3] metres at a weight of 1, in the axes of the file.</summary>
        public float[] MorphDeltas(int weight)
        {
            if (weight < 0 || weight >= Counts.Components + Counts.Modes)
            {
                throw new ArgumentOutOfRangeException("weight");
            }
            var deltas = new float[3 * Counts.FileVertices];
            GCHandle pinned = GCHandle.Alloc(deltas, GCHandleType.Pinned);
            Native.jnAsset_MorphDeltas(Handle, weight, false, pinned.AddrOfPinnedObject());
            pinned.Free();
            return deltas;
        }

        /// <summary>
        /// Finds the joints among an engine's bones by name, whatever renamed them; parents before their children. Returns the
        /// bone of each joint, and in report a sentence that names those that are missing.
        /// </summary>
        public BoneMatch[] MatchBones(string[] names, out string report)
        {
            var pointers = new IntPtr[names.Length];
            var matches = new BoneMatch[Counts.Joints];
            IntPtr text = IntPtr.Zero;
            try
            {
                for (int i = 0; i < names.Length; ++i)
                {
                    pointers[i] = ToUtf8(names[i]);
                }
                Native.jnAsset_MatchBones(Handle, pointers, names.Length, matches);
                ulong length = Native.jnAsset_DescribeBones(Handle, matches, IntPtr.Zero, UIntPtr.Zero).ToUInt64() + 1;
                text = Marshal.AllocHGlobal((int)length);
                Native.jnAsset_DescribeBones(Handle, matches, text, (UIntPtr)length);
                report = Marshal.PtrToStringAnsi(text);
                return matches;
            }
            finally
            {
                Marshal.FreeHGlobal(text);
                foreach (IntPtr pointer in pointers)
                {
                    Marshal.FreeHGlobal(pointer);
                }
            }
        }

        private static IntPtr ToUtf8(string text)
        {
            byte[] encoded = Encoding.UTF8.GetBytes(text);
            IntPtr memory = Marshal.AllocHGlobal(encoded.Length + 1);
            Marshal.Copy(encoded, 0, memory, encoded.Length);
            Marshal.WriteByte(memory, encoded.Length, 0);
            return memory;
        }

        public void Dispose()
        {
            Release();
            GC.SuppressFinalize(this);
        }

        ~Asset() { Release(); }

        private void Release()
        {
            if (handle != IntPtr.Zero)
            {
                Native.jnDestroyAsset(handle);
                handle = IntPtr.Zero;
                bytes.Free();
            }
        }
    }
}
