import type { ProtocolSetting } from '../network.ts'

/** In which version of the Graph API a network is called. @param title in sentences */
export const graphVersion = (title: string): ProtocolSetting => ({
  fallback: 'v25.0',
  does: `Version of the Graph API for ${title}. A version ends two years after its release.`,
  pattern: /^v\d+\.\d$/,
  means: 'must be a version such as v25.0',
})
