import type { ProtocolSetting } from '../network.ts'

/** Setting for the Graph API version with which a network is called. @param title name in sentences */
export const graphVersion = (title: string): ProtocolSetting => ({
  fallback: 'v25.0',
  does: `Version of the Graph API for ${title}. A version ends two years after its release.`,
  pattern: /^v\d+\.\d$/,
  means: 'must be a version such as v25.0',
})
