// The structs and functions of jounce.h that this package calls. All structs are blittable: nothing is marshalled in a step.
using System;
using System.Runtime.InteropServices;

namespace Jounce
{
    /// <summary>The result of a call, as jnResult.</summary>
    public enum Result { Ok, BadArgument, BadData, IoFailed, OutOfMemory, Cancelled }

    /// <summary>How a step treats the change from the last pose, as jnTeleport.</summary>
    public enum Teleport { None, Keep, Reset }

    /// <summary>A rigid motion: rotate by the unit quaternion, then move. As jnTransform.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct RigidTransform
    {
        /// <summary>Metres.</summary>
        public float X, Y, Z;
        /// <summary>Unit quaternion.</summary>
        public float RotationX, RotationY, RotationZ, RotationW;
    }

    /// <summary>What a character is doing, as jnCharacterReport.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct CharacterReport
    {
        /// <summary>Of all steps since creation.</summary>
        public double Seconds;
        /// <summary>Since the last reset.</summary>
        public uint Steps;
        /// <summary>In use at this level of detail.</summary>
        public int Components, Modes;
        /// <summary>Joules, of all modes.</summary>
        public double Kinetic, Elastic;
        /// <summary>Modes that are shown smaller than they move.</summary>
        public int Limited;
        /// <summary>Modes whose force is above its limit.</summary>
        public int Held;
        /// <summary>That the mode with the most energy lives at; -1: none moves.</summary>
        public int Joint;
        /// <summary>Modes or springs that were reset, poses that could not be used.</summary>
        public ulong Resets, BadPoses;
    }

    /// <summary>The numbers of an asset, as jnAssetCounts.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct AssetCounts
    {
        public int Joints, Vertices, FileVertices, Normals, Triangles, Parts, Clips;
        public int Components, Modes, Weights, Targets, HitVertices;
        public int IsLinear, WeightsArePairs;
    }

    /// <summary>The bone of one joint, as jnBoneMatch.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct BoneMatch
    {
        /// <summary>Number of the name; -1: missing.</summary>
        public int Bone;
        /// <summary>0 missing, 1 the same name, 2 but for prefix, case and separators, 3 the same part of a body, 4 by order.</summary>
        public int Found;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeAllocator { public IntPtr Allocate, Release, User; }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeAssetDef
    {
        public IntPtr Bytes;
        public UIntPtr Size;
        public IntPtr Source;
        public NativeAllocator Allocator;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeClip
    {
        public IntPtr Name;
        public double Rate;
        public int FrameCount;
        public byte Looping, IsTest;
        public IntPtr Rotations, Translations, Scales;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativePose
    {
        public IntPtr Rotations, Translations, Scales, Matrices, Root, Origin, Targets;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeCharacterDef
    {
        public IntPtr Asset;
        public int Curve, Timing, Start, Detail, Components, Modes;
        public byte WeightsOnly;
        public int Kernel;
        public NativeAllocator Allocator;
        public IntPtr Memory;
        public UIntPtr MemorySize;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeInput
    {
        public float H;
        public NativePose Pose;
        public int Teleport;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeOutput
    {
        public IntPtr Weights, WeightRates, Positions;
        public UIntPtr PositionStride;
        public IntPtr Velocities;
        public UIntPtr VelocityStride;
        public IntPtr Normals;
        public UIntPtr NormalStride;
        public byte Welded;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeTypeSize { public IntPtr Name; public UIntPtr Size; }

    internal static class Native
    {
        private const string Library = "jounce";
        private const CallingConvention C = CallingConvention.Cdecl;
        internal const int ErrorSize = 516; // jnError: a code and a sentence
        internal const int NameLength = 64;

        [DllImport(Library, CallingConvention = C)] internal static extern IntPtr jnAbi();
        [DllImport(Library, CallingConvention = C)] internal static extern IntPtr jnVersion();
        [DllImport(Library, CallingConvention = C)] internal static extern Result jnLoadAsset(ref NativeAssetDef def, out IntPtr asset, IntPtr error);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnDestroyAsset(IntPtr asset);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnAsset_Counts(IntPtr asset, out AssetCounts counts);
        [DllImport(Library, CallingConvention = C)] internal static extern IntPtr jnAsset_Joint(IntPtr asset, int index);
        [DllImport(Library, CallingConvention = C)] internal static extern NativeClip jnAsset_Clip(IntPtr asset, int index);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnAsset_SampleClip(IntPtr asset, int index, double seconds, IntPtr rotations, IntPtr translations, IntPtr scales);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnAsset_MorphDeltas(IntPtr asset, int weight, [MarshalAs(UnmanagedType.I1)] bool welded, IntPtr deltas);
        [DllImport(Library, CallingConvention = C)] internal static extern int jnAsset_MatchBones(IntPtr asset, IntPtr[] names, int count, [Out] BoneMatch[] matches);
        [DllImport(Library, CallingConvention = C)] internal static extern UIntPtr jnAsset_DescribeBones(IntPtr asset, [In] BoneMatch[] matches, IntPtr text, UIntPtr size);
        [DllImport(Library, CallingConvention = C)] internal static extern NativeCharacterDef jnDefaultCharacterDef(IntPtr asset);
        [DllImport(Library, CallingConvention = C)] internal static extern Result jnCreateCharacter(ref NativeCharacterDef def, out IntPtr character, IntPtr error);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnDestroyCharacter(IntPtr character);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnCharacter_Step(IntPtr character, IntPtr input, IntPtr output);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnCharacter_Reset(IntPtr character, IntPtr input, IntPtr output);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnCharacter_Evaluate(IntPtr character, float fraction, IntPtr output);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnCharacter_SetLevel(IntPtr character, int components, int modes, float seconds);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnCharacter_SetCap(IntPtr character, float distance);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnCharacter_SetForce(IntPtr character, ref Vector acceleration);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnCharacter_AddImpulse(IntPtr character, int vertex, ref Vector velocity);
        [DllImport(Library, CallingConvention = C)] internal static extern void jnCharacter_Describe(IntPtr character, out CharacterReport report, IntPtr modes);

        [StructLayout(LayoutKind.Sequential)]
        internal struct Vector { public float X, Y, Z; }

        /// <summary>Fails unless the library's structs are those of this package.</summary>
        internal static void CheckLibrary()
        {
            if (isChecked)
            {
                return;
            }
            Check("jnError", ErrorSize);
            Check("jnTransform", Marshal.SizeOf(typeof(RigidTransform)));
            Check("jnAssetDef", Marshal.SizeOf(typeof(NativeAssetDef)));
            Check("jnAssetCounts", Marshal.SizeOf(typeof(AssetCounts)));
            Check("jnAssetClip", Marshal.SizeOf(typeof(NativeClip)));
            Check("jnPose", Marshal.SizeOf(typeof(NativePose)));
            Check("jnCharacterDef", Marshal.SizeOf(typeof(NativeCharacterDef)));
            Check("jnCharacterInput", Marshal.SizeOf(typeof(NativeInput)));
            Check("jnCharacterOutput", Marshal.SizeOf(typeof(NativeOutput)));
            Check("jnCharacterReport", Marshal.SizeOf(typeof(CharacterReport)));
            Check("jnBoneMatch", Marshal.SizeOf(typeof(BoneMatch)));
            isChecked = true;
        }

        private static bool isChecked;

        private static void Check(string name, int size)
        {
            int step = Marshal.SizeOf(typeof(NativeTypeSize));
            for (IntPtr at = jnAbi();; at = IntPtr.Add(at, step))
            {
                var entry = (NativeTypeSize)Marshal.PtrToStructure(at, typeof(NativeTypeSize));
                if (entry.Name == IntPtr.Zero)
                {
                    throw new JounceException(Result.BadData, "the jounce library has no " + name + ": it is of another version");
                }
                if (Marshal.PtrToStringAnsi(entry.Name) == name)
                {
                    if (entry.Size.ToUInt64() != (ulong)size)
                    {
                        throw new JounceException(Result.BadData, "the jounce library's " + name + " has " + entry.Size +
                            " bytes, this package's " + size + ": they are of different versions");
                    }
                    return;
                }
            }
        }

        /// <summary>A call with a jnError, which becomes an exception.</summary>
        internal static void Try(Func<IntPtr, Result> call)
        {
            IntPtr error = Marshal.AllocHGlobal(ErrorSize);
            try
            {
                Result result = call(error);
                if (result != Result.Ok)
                {
                    throw new JounceException(result, Marshal.PtrToStringAnsi(IntPtr.Add(error, 4)));
                }
            }
            finally
            {
                Marshal.FreeHGlobal(error);
            }
        }
    }

    /// <summary>A call that failed, with the sentence that the library gives.</summary>
    public sealed class JounceException : Exception
    {
        internal JounceException(Result result, string message) : base(message) { Result = result; }
        /// <summary>The kind of failure.</summary>
        public Result Result { get; }
    }
}
