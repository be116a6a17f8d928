using System;
using System.Runtime.InteropServices;

namespace Jounce
{
    /// <summary>What a character computes in a step.</summary>
    [Flags]
    public enum Outputs { Weights = 1, WeightRates = 2, Positions = 4, Velocities = 8, Normals = 16 }

    /// <summary>
    /// A character: write its pose into Rotations, Translations and Scales, call Step, read Weights. All arrays are pinned once
    /// and belong to the character: a step allocates nothing.
    /// </summary>
    public sealed class Character : IDisposable
    {
        private readonly Asset asset; // keeps it alive
        private IntPtr handle, input, output, root;
        private readonly GCHandle[] pins = new GCHandle[8];
        private int pinCount;

        private static readonly int HOffset = (int)Marshal.OffsetOf(typeof(NativeInput), "H");
        private static readonly int TeleportOffset = (int)Marshal.OffsetOf(typeof(NativeInput), "Teleport");
        private static readonly int RootOffset =
            (int)Marshal.OffsetOf(typeof(NativeInput), "Pose") + (int)Marshal.OffsetOf(typeof(NativePose), "Root");

        /// <summary>Makes a character. components, modes: level of detail, how many weights of each; 0: all.</summary>
        public Character(Asset asset, Outputs outputs = Outputs.Weights, int components = 0, int modes = 0)
        {
            if (asset == null)
            {
                throw new ArgumentNullException("asset");
            }
            this.asset = asset;
            NativeCharacterDef def = Native.jnDefaultCharacterDef(asset.Handle);
            const Outputs surface = Outputs.Positions | Outputs.Velocities | Outputs.Normals;
            def.WeightsOnly = (byte)((outputs & surface) == 0 && asset.Counts.Modes + asset.Counts.Components > 0 ? 1 : def.WeightsOnly);
            def.Components = components;
            def.Modes = modes;
            Native.Try(error => Native.jnCreateCharacter(ref def, out handle, error));
            AssetCounts n = asset.Counts;
            Rotations = new float[4 * n.Joints];
            Translations = new float[3 * n.Joints];
            Scales = new float[3 * n.Joints];
            Weights = new float[(outputs & Outputs.Weights) != 0 ? n.Weights : 0];
            WeightRates = new float[(outputs & Outputs.WeightRates) != 0 ? n.Weights : 0];
            Positions = new float[(outputs & Outputs.Positions) != 0 ? 3 * n.FileVertices : 0];
            Velocities = new float[(outputs & Outputs.Velocities) != 0 ? 3 * n.FileVertices : 0];
            Normals = new float[(outputs & Outputs.Normals) != 0 ? 3 * n.FileVertices : 0];
            root = Marshal.AllocHGlobal(Marshal.SizeOf(typeof(RigidTransform)));
            input = Marshal.AllocHGlobal(Marshal.SizeOf(typeof(NativeInput)));
            output = Marshal.AllocHGlobal(Marshal.SizeOf(typeof(NativeOutput)));
            var pose = new NativePose { Rotations = Pin(Rotations), Translations = Pin(Translations), Scales = Pin(Scales) };
            Marshal.StructureToPtr(new NativeInput { Pose = pose }, input, false);
            Marshal.StructureToPtr(new NativeOutput
            {
                Weights = Pin(Weights),
                WeightRates = Pin(WeightRates),
                Positions = Pin(Positions),
                Velocities = Pin(Velocities),
                Normals = Pin(Normals),
            }, output, false);
            TakeRest();
        }

        /// <summary>[Joints][4], unit quaternions x, y, z, w, local to the parent. At rest until they are written.</summary>
        public float[] Rotations { get; }
        /// <summary>[Joints][3], local, metres.</summary>
        public float[] Translations { get; }
        /// <summary>[Joints][3], local.</summary>
        public float[] Scales { get; }
        /// <summary>[Weights], by every step. Of a file beside a .glb: those of its targets, in their order.</summary>
        public float[] Weights { get; }
        /// <summary>[Weights], 1/s.</summary>
        public float[] WeightRates { get; }
        /// <summary>[FileVertices][3], metres.</summary>
        public float[] Positions { get; }
        /// <summary>[FileVertices][3], m/s.</summary>
        public float[] Velocities { get; }
        /// <summary>[FileVertices][3].</summary>
        public float[] Normals { get; }

        /// <summary>Writes the pose of a clip into Rotations, Translations and Scales.</summary>
        public void SampleClip(int clip, double seconds)
        {
            if (clip < 0 || clip >= asset.Counts.Clips)
            {
                throw new ArgumentOutOfRangeException("clip");
            }
            Native.jnAsset_SampleClip(asset.Handle, clip, seconds, pins[0].AddrOfPinnedObject(), pins[1].AddrOfPinnedObject(),
                pins[2].AddrOfPinnedObject());
        }

        /// <summary>Advances by seconds to the pose in the arrays. Allocates nothing.</summary>
        public void Step(float seconds, Teleport teleport = Teleport.None)
        {
            Prepare(seconds, teleport, IntPtr.Zero);
            Native.jnCharacter_Step(handle, input, output);
        }

        /// <summary>The same, with where the character stands in the world.</summary>
        public void Step(float seconds, ref RigidTransform world, Teleport teleport = Teleport.None)
        {
            Write(root, 0, world.X);
            Write(root, 4, world.Y);
            Write(root, 8, world.Z);
            Write(root, 12, world.RotationX);
            Write(root, 16, world.RotationY);
            Write(root, 20, world.RotationZ);
            Write(root, 24, world.RotationW);
            Prepare(seconds, teleport, root);
            Native.jnCharacter_Step(handle, input, output);
        }

        /// <summary>Starts anew on the pose in the arrays.</summary>
        public void Reset()
        {
            Prepare(0, Teleport.Reset, IntPtr.Zero);
            Native.jnCharacter_Reset(handle, input, output);
        }

        /// <summary>Writes the outputs at a fraction of the last interval.</summary>
        public void Evaluate(float fraction)
        {
            CheckAlive();
            Native.jnCharacter_Evaluate(handle, fraction, output);
        }

        /// <summary>As jnCharacter_SetLevel.</summary>
        public void SetLevel(int components, int modes, float seconds)
        {
            CheckAlive();
            Native.jnCharacter_SetLevel(handle, components, modes, seconds);
        }

        /// <summary>As jnCharacter_SetCap.</summary>
        public void SetCap(float distance)
        {
            CheckAlive();
            Native.jnCharacter_SetCap(handle, distance);
        }

        /// <summary>As jnCharacter_SetForce, m/s^2.</summary>
        public void SetForce(float x, float y, float z)
        {
            CheckAlive();
            var acceleration = new Native.Vector { X = x, Y = y, Z = z };
            Native.jnCharacter_SetForce(handle, ref acceleration);
        }

        /// <summary>As jnCharacter_AddImpulse, m/s.</summary>
        public void AddImpulse(int vertex, float x, float y, float z)
        {
            if (vertex < 0 || vertex >= asset.Counts.HitVertices)
            {
                throw new ArgumentOutOfRangeException("vertex");
            }
            CheckAlive();
            var velocity = new Native.Vector { X = x, Y = y, Z = z };
            Native.jnCharacter_AddImpulse(handle, vertex, ref velocity);
        }

        /// <summary>Energy, limits that are hit, resets and time.</summary>
        public CharacterReport Describe()
        {
            CheckAlive();
            CharacterReport report;
            Native.jnCharacter_Describe(handle, out report, IntPtr.Zero);
            return report;
        }

        // NULL where there is nothing to write.
        private IntPtr Pin(float[] array)
        {
            pins[pinCount] = GCHandle.Alloc(array, GCHandleType.Pinned);
            IntPtr address = array.Length > 0 ? pins[pinCount].AddrOfPinnedObject() : IntPtr.Zero;
            pinCount++;
            return address;
        }

        // From jnAssetJoint: a name, the parent, translation, rotation, scale.
        private void TakeRest()
        {
            const int translation = Native.NameLength + 4, rotation = translation + 12, scale = rotation + 16;
            for (int j = 0; j < asset.Counts.Joints; ++j)
            {
                IntPtr joint = Native.jnAsset_Joint(asset.Handle, j);
                Marshal.Copy(IntPtr.Add(joint, translation), Translations, 3 * j, 3);
                Marshal.Copy(IntPtr.Add(joint, rotation), Rotations, 4 * j, 4);
                Marshal.Copy(IntPtr.Add(joint, scale), Scales, 3 * j, 3);
            }
        }

        private void Prepare(float seconds, Teleport teleport, IntPtr world)
        {
            CheckAlive();
            Write(input, HOffset, seconds);
            Marshal.WriteInt32(input, TeleportOffset, (int)teleport);
            Marshal.WriteIntPtr(input, RootOffset, world);
        }

        private static void Write(IntPtr memory, int offset, float value)
        {
            Marshal.WriteInt32(memory, offset, new FloatBits { Value = value }.Bits);
        }

        [StructLayout(LayoutKind.Explicit)]
        private struct FloatBits
        {
            [FieldOffset(0)] public float Value;
            [FieldOffset(0)] public readonly int Bits;
        }

        private void CheckAlive()
        {
            if (handle == IntPtr.Zero)
            {
                throw new ObjectDisposedException("Character");
            }
        }

        public void Dispose()
        {
            Release();
            GC.SuppressFinalize(this);
        }

        ~Character() { Release(); }

        private void Release()
        {
            if (handle == IntPtr.Zero)
            {
                return;
            }
            Native.jnDestroyCharacter(handle);
            handle = IntPtr.Zero;
            Marshal.FreeHGlobal(root);
            Marshal.FreeHGlobal(input);
            Marshal.FreeHGlobal(output);
            for (int i = 0; i < pinCount; ++i)
            {
                pins[i].Free();
            }
            GC.KeepAlive(asset);
        }
    }
}
