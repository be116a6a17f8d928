import type { MeshStandardMaterial, WebGLProgramParametersWithUniforms } from 'three';

/** Colours of vertices are bytes of the screen's space; the shader wants them linear. */
export function readScreenColors(material: MeshStandardMaterial, more?: (shader: WebGLProgramParametersWithUniforms) => void): void {
  material.onBeforeCompile = (shader) => {
    shader.fragmentShader = shader.fragmentShader.replace('#include <color_fragment>', `
      vec3 screenColor = vColor.rgb;
      diffuseColor.rgb *= mix(screenColor / 12.92, pow((screenColor + 0.055) / 1.055, vec3(2.4)), step(0.04045, screenColor));`);
    more?.(shader);
  };
  material.customProgramCacheKey = () => (more ? 'screen colours, crowd' : 'screen colours');
}
