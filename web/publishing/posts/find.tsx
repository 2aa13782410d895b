import { useEffect } from 'react'
import { useQuery } from 'urql'
import type { Way } from '../../shell/frame/palette/match.ts'
import { say } from '../../shell/words.ts'
import { networks } from '../brand/networks.ts'
import { FindPostsDocument } from './find.generated.ts'

/** Finds posts for the command palette. */
export function FindPosts({ typed, onFound }: { readonly typed: string; onFound(ways: readonly Way[]): void }) {
  const [{ data }] = useQuery({ query: FindPostsDocument, variables: { search: typed }, pause: typed.length < 2 })
  useEffect(() => {
    const posts = typed.length < 2 ? [] : (data?.posts?.nodes ?? [])
    onFound(
      posts.flatMap(post =>
        post ? [{ id: post.id, name: `${networks[post.platform]}: ${post.title || post.copy || say('posts.without-text')}`, to: `/posts/${post.id}` }] : [],
      ),
    )
  }, [data, typed, onFound])
  return null
}
