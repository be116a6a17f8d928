// play.c through Jounce.Runtime. Fails where a thousand steps allocate.
using System;
using System.IO;
using Jounce;

static class Play
{
    static int Fail(string what)
    {
        Console.WriteLine(what);
        return 1;
    }

    static void Write(BinaryWriter to, float[] values)
    {
        var bytes = new byte[4 * values.Length];
        Buffer.BlockCopy(values, 0, bytes, 0, bytes.Length);
        to.Write(bytes);
    }

    static int Main(string[] arguments)
    {
        byte[] file = File.ReadAllBytes(arguments[0]), damaged = (byte[])file.Clone();
        damaged[file.Length / 2] ^= 1;
        try
        {
            using (new Asset(damaged)) return Fail("a damaged file was loaded");
        }
        catch (JounceException refused)
        {
            if (refused.Result != Result.BadData || !refused.Message.Contains("checksum")) return Fail(refused.Message);
        }
        using (var asset = new Asset(file))
        using (var clips = new Asset(File.ReadAllBytes(arguments[1])))
        {
            bool surface = asset.Counts.FileVertices > 0;
            var outputs = Outputs.Weights | Outputs.WeightRates | (surface ? Outputs.Positions | Outputs.Normals : 0);
            int clip = 0;
            while (clips.Clip(clip).Name != arguments[2]) ++clip;
            using (var poses = new Character(clips))
            using (var character = new Character(asset, outputs))
            using (var output = new BinaryWriter(File.Create(arguments[3])))
            {
                for (int f = 0; f < 60; ++f)
                {
                    var root = new RigidTransform { X = 0.01f * f, Z = 0.02f * f, RotationW = 1 };
                    poses.SampleClip(clip, f / 30.0);
                    poses.Rotations.CopyTo(character.Rotations, 0);
                    poses.Translations.CopyTo(character.Translations, 0);
                    poses.Scales.CopyTo(character.Scales, 0);
                    if (f == 20) character.AddImpulse(3, 0.5f, 1.0f, -0.25f);
                    if (f == 40) character.SetLevel(0, 8, 0.2f);
                    character.Step(1.0f / 30, ref root);
                    if (f % 7 == 6) character.Evaluate(0.5f);
                    CharacterReport report = character.Describe();
                    Write(output, character.Weights);
                    Write(output, character.WeightRates);
                    Write(output, character.Positions);
                    Write(output, character.Normals);
                    output.Write(report.Kinetic);
                    output.Write(report.Steps);
                }
                long before = GC.GetTotalMemory(true);
                for (int f = 0; f < 1000; ++f)
                {
                    var root = new RigidTransform { RotationW = 1 };
                    character.Step(1.0f / 30, ref root);
                    if (f % 100 == 0) character.Describe();
                }
                long grown = GC.GetTotalMemory(false) - before;
                if (grown > 0) return Fail("a thousand steps allocated " + grown + " bytes");
            }
            string report2;
            var names = new string[asset.Counts.Joints];
            for (int j = 0; j < names.Length; ++j) names[j] = "mixamorig:" + asset.JointName(j);
            BoneMatch[] matches = asset.MatchBones(names, out report2);
            for (int j = 0; j < names.Length; ++j)
            {
                if (matches[j].Bone != j) return Fail(report2);
            }
            if (!report2.StartsWith(names.Length + " of " + names.Length)) return Fail(report2);
            if (asset.JointParent(0) != -1) return Fail("the first joint has a parent");
        }
        return 0;
    }
}
