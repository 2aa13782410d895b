import type { Job } from '../context.ts'
import type { Medium, Platform } from '../network/network.ts'
import type { PostRow } from '../stores/post.ts'

/** The media of a post in the form in which a network takes them; `failed` says in a sentence why they cannot be had. */
export async function mediaOf(
  _job: Job,
  { media }: Pick<PostRow, 'brandId' | 'media'>,
  _platform: Platform,
): Promise<{ media: readonly Medium[] } | { failed: string }> {
  return media.length ? { failed: 'the platform keeps no media yet' } : { media: [] }
}
