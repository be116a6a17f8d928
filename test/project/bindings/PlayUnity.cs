// csharp/Unity on stubs of Unity: a hierarchy with Godot-like names, a node between, and Unity's axes shows the weights that the
// runtime gives for the clip itself.
//
//     PlayUnity WEIGHTS.jounce CHARACTER.jounce CLIP
using System;
using System.IO;
using System.Reflection;
using Jounce;
using Jounce.Unity;
using UnityEngine;

static class PlayUnity
{
    static void Call(object component, string method)
    {
        component.GetType().GetMethod(method, BindingFlags.NonPublic | BindingFlags.Instance).Invoke(component, null);
    }

    static int Main(string[] arguments)
    {
        byte[] file = File.ReadAllBytes(arguments[0]);
        using (var asset = new Asset(file))
        using (var clips = new Asset(File.ReadAllBytes(arguments[1])))
        using (var poses = new Character(clips))
        using (var truth = new Character(asset))
        {
            int clip = 0, joints = asset.Counts.Joints, weights = asset.Counts.Weights;
            while (clips.Clip(clip).Name != arguments[2]) ++clip;
            var top = new Transform("hero", null);
            var armature = new Transform("Armature", top);
            var bones = new Transform[joints];
            for (int j = 0; j < joints; ++j)
            {
                int parent = asset.JointParent(j);
                bones[j] = new Transform("rig:" + asset.JointName(j).ToUpperInvariant(), parent < 0 ? armature : bones[parent]);
            }
            var renderer = new Transform("body", top).Add<SkinnedMeshRenderer>();
            renderer.sharedMesh = new Mesh { shapes = new string[weights + 1] };
            renderer.sharedMesh.shapes[0] = "smile";
            for (int t = 0; t < weights; ++t) renderer.sharedMesh.shapes[1 + t] = "jounce.flesh." + t.ToString("000");
            var flesh = top.Add<JounceFlesh>();
            flesh.WeightsFile = new TextAsset { bytes = file };
            Call(flesh, "Start");
            if (Debug.warnings.Count > 0)
            {
                Console.WriteLine(Debug.warnings[0]);
                return 1;
            }
            double apart = 0, largest = 0;
            Time.deltaTime = 1.0f / 30;
            for (int f = 0; f < 60; ++f)
            {
                poses.SampleClip(clip, f / 30.0);
                poses.Rotations.CopyTo(truth.Rotations, 0);
                poses.Translations.CopyTo(truth.Translations, 0);
                float[] r = poses.Rotations, t = poses.Translations;
                var root = new RigidTransform { X = 0.02f * f, Z = 0.5f, RotationY = 0.6f, RotationW = 0.8f };
                top.localPosition = new Vector3(-root.X, root.Y, root.Z);
                top.localRotation = new Quaternion(root.RotationX, -root.RotationY, -root.RotationZ, root.RotationW);
                for (int j = 0; j < joints; ++j)
                {
                    bones[j].localPosition = new Vector3(-t[3 * j], t[3 * j + 1], t[3 * j + 2]);
                    bones[j].localRotation = new Quaternion(r[4 * j], -r[4 * j + 1], -r[4 * j + 2], r[4 * j + 3]);
                }
                truth.Step(Time.deltaTime, ref root);
                Call(flesh, "LateUpdate");
                for (int w = 0; w < weights; ++w)
                {
                    apart = Math.Max(apart, Math.Abs(renderer.weights[1 + w] / 100 - truth.Weights[w]));
                    largest = Math.Max(largest, Math.Abs(truth.Weights[w]));
                }
            }
            Console.WriteLine("Unity's component on stubs: weights up to " + largest.ToString("0.000") + ", off by " + apart.ToString("0.0e0"));
            bool shown = !renderer.weights.ContainsKey(0) && flesh.Describe().Steps > 50;
            Call(flesh, "OnDestroy");
            return shown && largest > 0.05 && apart < 1e-4 ? 0 : 1;
        }
    }
}
