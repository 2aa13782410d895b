/** Networks by their own names, which are the same in every language. */
export const networks = {
  X: 'X',
  LINKEDIN: 'LinkedIn',
  LINKEDIN_PAGE: 'LinkedIn Page',
  FACEBOOK: 'Facebook',
  INSTAGRAM: 'Instagram',
  THREADS: 'Threads',
  TIKTOK: 'TikTok',
  YOUTUBE: 'YouTube',
} as const

export type Network = keyof typeof networks

/** All of them, in the order of their cards. */
export const platforms = Object.keys(networks) as readonly Network[]
