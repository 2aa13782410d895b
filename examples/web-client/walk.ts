import assert from 'node:assert/strict'
import type { ApolloClient } from '@apollo/client'
import { signIn, signOut } from '../rest/session.ts'
import { createApollo } from './client.ts'
import { LatestPostsDocument, MyBrandsDocument, PostStatusDocument, SchedulePostDocument, WidgetsDocument } from './operations.generated.ts'

/** Apollo Client 4: a dashboard's day. It reads, listens, schedules a post and hears of each step until the network has it. */
export async function walkWithApollo(url: string, over: 'graphql-ws' | 'multipart' = 'graphql-ws'): Promise<void> {
  let token = await signIn(url)
  const client = createApollo(url, async () => token, over)
  const me = await client.query({ query: MyBrandsDocument })
  const brand = me.data?.viewer?.organization?.brands?.nodes?.[0]
  assert.ok(brand, 'the demo world has a brand')

  const statuses: string[] = []
  const copy = `Hello from Apollo Client over ${over}, ${new Date().toISOString()}`
  const published = Promise.withResolvers<void>()
  const listening = client.subscribe({ query: PostStatusDocument, variables: { brandId: brand.id } }).subscribe({
    next({ data, error }) {
      if (error) published.reject(error)
      const post = data?.postStatusChanged
      if (post?.copy !== copy) return
      statuses.push(post.status)
      if (post.status === 'PUBLISHED' || post.status === 'FAILED') published.resolve()
    },
    error: published.reject,
  })
  const late = setTimeout(() => published.reject(new Error(`the post was not published in time: ${statuses.join(', ')}`)), 40_000)

  const scheduledAt = new Date(Date.now() + 2_000).toISOString()
  const made = await client.mutate({ mutation: SchedulePostDocument, variables: { input: { brandId: brand.id, platform: 'X', copy, scheduledAt } } })
  assert.equal(made.data?.createPost?.status, 'SCHEDULED')
  await published.promise
  clearTimeout(late)
  listening.unsubscribe()
  assert.equal(statuses.at(-1), 'PUBLISHED')

  const latest = await client.query({ query: LatestPostsDocument, variables: { brandId: brand.id, first: 20 }, fetchPolicy: 'network-only' })
  assert.ok(latest.data?.posts?.nodes?.some(post => post?.copy === copy))

  await walkOverAnEnd(client, async () => {
    const former = token
    token = await signIn(url)
    await signOut(url, former)
  })
  client.stop()
}

/** A stream that is ended by the platform begins again with the token that holds then: it tells every widget once more. */
async function walkOverAnEnd(client: ApolloClient, end: () => Promise<void>): Promise<void> {
  const told: string[] = []
  const begun = Promise.withResolvers<void>()
  const again = Promise.withResolvers<void>()
  const over = (why: unknown) => {
    for (const { reject } of [begun, again]) reject(why)
  }
  const listening = client.subscribe({ query: WidgetsDocument }).subscribe({
    next({ data }) {
      const app = data?.widgetUpdated?.app
      if (!app) return
      told.push(app)
      begun.resolve()
      if (told.filter(each => each === told[0]).length === 2) again.resolve()
    },
    error: over,
    complete: () => over(new Error('the subscription was over with its first stream')),
  })
  const late = setTimeout(() => over(new Error(`the stream did not come back: ${told.join(', ')}`)), 30_000)
  again.promise.catch(() => {})
  await begun.promise
  await end()
  await again.promise
  clearTimeout(late)
  listening.unsubscribe()
}
