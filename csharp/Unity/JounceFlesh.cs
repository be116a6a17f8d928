// A component for the root of a character that glTFast or UnityGLTF imported from `jounce export --for unity`.
using System;
using System.Collections.Generic;
using UnityEngine;

namespace Jounce.Unity
{
    /// <summary>
    /// Steps the flesh after the animation and sets the blend shapes of all meshes below. WeightsFile is hero.weights.jounce,
    /// renamed to hero.weights.jounce.bytes so that Unity imports it as a TextAsset.
    /// </summary>
    public sealed class JounceFlesh : MonoBehaviour
    {
        /// <summary>The file beside the .glb.</summary>
        public TextAsset WeightsFile;
        /// <summary>Unity's units in a metre of the character.</summary>
        public float UnitsPerMetre = 1;
        /// <summary>Metres that the character must move between two frames to start anew; 0: it never does.</summary>
        public float TeleportDistance = 1;

        private struct Shape
        {
            public SkinnedMeshRenderer Renderer;
            public int Index;
        }

        private Asset asset;
        private Character character;
        private Transform[] bones;   // of each joint; null: not found
        private Transform[] parents; // that the joint is local to
        private Shape[][] shapes;    // of each weight
        private Vector3 last;
        private bool started;

        /// <summary>What the last search for bones found.</summary>
        public string BoneReport { get; private set; }
        /// <summary>What the flesh is doing.</summary>
        public CharacterReport Describe() { return character.Describe(); }

        private void Start()
        {
            asset = new Asset(WeightsFile.bytes);
            character = new Character(asset);
            FindBones();
            FindShapes();
        }

        private void OnDestroy()
        {
            if (character != null)
            {
                character.Dispose();
            }
            if (asset != null)
            {
                asset.Dispose();
            }
        }

        private void FindBones()
        {
            Transform[] all = GetComponentsInChildren<Transform>();
            var names = new string[all.Length];
            for (int i = 0; i < all.Length; ++i)
            {
                names[i] = all[i].name;
            }
            string report;
            BoneMatch[] matches = asset.MatchBones(names, out report);
            BoneReport = report;
            bones = new Transform[matches.Length];
            parents = new Transform[matches.Length];
            bool whole = true;
            for (int j = 0; j < matches.Length; ++j)
            {
                int parent = asset.JointParent(j);
                bones[j] = matches[j].Bone >= 0 ? all[matches[j].Bone] : null;
                parents[j] = parent >= 0 ? bones[parent] : transform;
                whole = whole && bones[j] != null;
            }
            if (!whole)
            {
                Debug.LogWarning("jounce: " + name + ": " + report);
            }
        }

        // Weight t is target t: the t-th blend shape of ours in each mesh.
        private void FindShapes()
        {
            var found = new List<Shape>[asset.Counts.Weights];
            for (int t = 0; t < found.Length; ++t)
            {
                found[t] = new List<Shape>();
            }
            foreach (SkinnedMeshRenderer renderer in GetComponentsInChildren<SkinnedMeshRenderer>())
            {
                int count = 0;
                for (int i = 0; i < renderer.sharedMesh.blendShapeCount; ++i)
                {
                    string shape = renderer.sharedMesh.GetBlendShapeName(i);
                    if (shape.IndexOf("jounce.", StringComparison.Ordinal) >= 0 && count < found.Length)
                    {
                        found[count++].Add(new Shape { Renderer = renderer, Index = i });
                    }
                }
                if (count != 0 && count != found.Length)
                {
                    Debug.LogWarning("jounce: " + renderer.name + " has " + count + " blend shapes of ours, " + WeightsFile.name +
                        " has " + found.Length + " weights: they are of different exports");
                }
            }
            shapes = new Shape[found.Length][];
            for (int t = 0; t < found.Length; ++t)
            {
                shapes[t] = found[t].ToArray();
            }
        }

        // Unity turns x around: of a rotation y and z change their sign, of a place x does.
        private void TakePose()
        {
            float[] rotations = character.Rotations, places = character.Translations;
            for (int j = 0; j < bones.Length; ++j)
            {
                if (bones[j] == null || parents[j] == null)
                {
                    continue; // at rest
                }
                Quaternion turn = Quaternion.Inverse(parents[j].rotation) * bones[j].rotation;
                Vector3 place = parents[j].InverseTransformPoint(bones[j].position);
                rotations[4 * j] = turn.x;
                rotations[4 * j + 1] = -turn.y;
                rotations[4 * j + 2] = -turn.z;
                rotations[4 * j + 3] = turn.w;
                places[3 * j] = -place.x / UnitsPerMetre;
                places[3 * j + 1] = place.y / UnitsPerMetre;
                places[3 * j + 2] = place.z / UnitsPerMetre;
            }
        }

        private void LateUpdate()
        {
            TakePose();
            Vector3 place = transform.position;
            Quaternion turn = transform.rotation;
            var root = new RigidTransform
            {
                X = -place.x / UnitsPerMetre,
                Y = place.y / UnitsPerMetre,
                Z = place.z / UnitsPerMetre,
                RotationX = turn.x,
                RotationY = -turn.y,
                RotationZ = -turn.z,
                RotationW = turn.w,
            };
            float x = place.x - last.x, y = place.y - last.y, z = place.z - last.z;
            float limit = TeleportDistance * UnitsPerMetre;
            bool jumps = started && limit > 0 && x * x + y * y + z * z > limit * limit;
            character.Step(Time.deltaTime, ref root, jumps ? Teleport.Reset : Teleport.None);
            last = place;
            started = true;
            for (int t = 0; t < shapes.Length; ++t)
            {
                foreach (Shape shape in shapes[t])
                {
                    shape.Renderer.SetBlendShapeWeight(shape.Index, 100 * character.Weights[t]);
                }
            }
        }
    }
}
