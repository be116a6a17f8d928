// As much of Unity as csharp/Unity asks for, with the same meaning: a component's hierarchy without scales, in left-handed axes.
using System.Collections.Generic;

namespace UnityEngine
{
    public struct Vector3
    {
        public float x, y, z;
        public Vector3(float x, float y, float z) { this.x = x; this.y = y; this.z = z; }
    }

    public struct Quaternion
    {
        public float x, y, z, w;
        public Quaternion(float x, float y, float z, float w) { this.x = x; this.y = y; this.z = z; this.w = w; }
        public static Quaternion Inverse(Quaternion q) { return new Quaternion(-q.x, -q.y, -q.z, q.w); }
        public static Quaternion operator *(Quaternion a, Quaternion b)
        {
            return new Quaternion(a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
        }
        public static Vector3 operator *(Quaternion q, Vector3 v)
        {
            Quaternion p = q * new Quaternion(v.x, v.y, v.z, 0) * Inverse(q);
            return new Vector3(p.x, p.y, p.z);
        }
    }

    public class Component
    {
        public Transform transform;
        public string name { get { return transform.objectName; } }
        public T[] GetComponentsInChildren<T>() where T : class
        {
            var found = new List<T>();
            Collect(transform, found);
            return found.ToArray();
        }
        private static void Collect<T>(Transform at, List<T> found) where T : class
        {
            if (at is T) found.Add(at as T);
            foreach (Component component in at.components) if (component is T) found.Add(component as T);
            foreach (Transform child in at.children) Collect(child, found);
        }
    }

    public class Transform : Component
    {
        public string objectName;
        public Transform parent;
        public List<Transform> children = new List<Transform>();
        public List<Component> components = new List<Component>();
        public Vector3 localPosition;
        public Quaternion localRotation = new Quaternion(0, 0, 0, 1);
        public Transform(string name, Transform parent)
        {
            objectName = name;
            transform = this;
            this.parent = parent;
            if (parent != null) parent.children.Add(this);
        }
        public T Add<T>() where T : Component, new()
        {
            var made = new T { transform = this };
            components.Add(made);
            return made;
        }
        public Quaternion rotation { get { return parent == null ? localRotation : parent.rotation * localRotation; } }
        public Vector3 position
        {
            get
            {
                if (parent == null) return localPosition;
                Vector3 p = parent.rotation * localPosition, o = parent.position;
                return new Vector3(p.x + o.x, p.y + o.y, p.z + o.z);
            }
        }
        public Vector3 InverseTransformPoint(Vector3 p)
        {
            Vector3 o = position;
            return Quaternion.Inverse(rotation) * new Vector3(p.x - o.x, p.y - o.y, p.z - o.z);
        }
    }

    public class MonoBehaviour : Component { }

    public class TextAsset
    {
        public string name = "weights";
        public byte[] bytes;
    }

    public class Mesh
    {
        public string[] shapes;
        public int blendShapeCount { get { return shapes.Length; } }
        public string GetBlendShapeName(int index) { return shapes[index]; }
    }

    public class SkinnedMeshRenderer : Component
    {
        public Mesh sharedMesh;
        public Dictionary<int, float> weights = new Dictionary<int, float>();
        public void SetBlendShapeWeight(int index, float weight) { weights[index] = weight; }
    }

    public static class Time { public static float deltaTime; }

    public static class Debug
    {
        public static List<string> warnings = new List<string>();
        public static void LogWarning(object message) { warnings.Add(message.ToString()); }
    }
}
