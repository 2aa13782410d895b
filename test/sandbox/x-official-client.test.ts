import { ApiError, Client } from '@xdevplatform/xdk'
import * as oauth from 'oauth4webapi'
import { expect, test } from 'vitest'
import type { Stage } from './stage.ts'
import { callback, everyScope, plainBasic, serverOf, stage } from './stage.ts'

const insecure = { [oauth.allowInsecureRequests]: true }

/** The whole way of an application that connects an account, walked by a certified OAuth client. */
async function connect({ sandbox }: Stage, scope = everyScope): Promise<oauth.TokenEndpointResponse> {
  const server = serverOf(sandbox)
  const client: oauth.Client = { client_id: sandbox.demo.x.clientId }
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const address = new URL(server.authorization_endpoint!)
  const parameters = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: callback,
    scope,
    state,
    code_challenge_method: 'S256',
    sandbox_approve: '1',
  }
  for (const [name, value] of Object.entries({ ...parameters, code_challenge: await oauth.calculatePKCECodeChallenge(verifier) }))
    address.searchParams.set(name, value)
  const sentBack = await fetch(address, { redirect: 'manual' })
  expect(sentBack.status).toBe(302)
  const granted = oauth.validateAuthResponse(server, client, new URL(sentBack.headers.get('location')!), state)
  const authentication = plainBasic(sandbox.demo.x.clientSecret)
  const answer = await oauth.authorizationCodeGrantRequest(server, client, authentication, granted, callback, verifier, insecure)
  return oauth.processAuthorizationCodeResponse(server, client, answer)
}

const sdk = ({ sandbox }: Stage, accessToken: string): Client => new Client({ accessToken, baseUrl: `${sandbox.origin}/x`, retry: false })

test('oauth4webapi connects, refreshes and revokes, and the official SDK finds the account behind the token', async () => {
  await using world = await stage()
  const { sandbox } = world
  const tokens = await connect(world)
  expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 7200, scope: everyScope })
  const me = await sdk(world, tokens.access_token).users.getMe({ userFields: ['created_at', 'verified'] })
  expect(me.data).toMatchObject({ ...sandbox.demo.x.account, verified: false, createdAt: '2026-03-01T12:00:00.000Z' })

  const server = serverOf(sandbox)
  const client: oauth.Client = { client_id: sandbox.demo.x.clientId }
  const authentication = plainBasic(sandbox.demo.x.clientSecret)
  const refreshed = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, authentication, tokens.refresh_token!, insecure),
  )
  expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)
  expect((await sdk(world, refreshed.access_token).users.getMe()).data?.id).toBe(sandbox.demo.x.account.id)
  await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, authentication, refreshed.refresh_token!, insecure))
  await expect(sdk(world, refreshed.access_token).users.getMe()).rejects.toMatchObject({ status: 401 })
})

test('the official SDK publishes a thread, reads it back, pages through the listing and deletes', async () => {
  await using world = await stage()
  const { id: accountId } = world.sandbox.demo.x.account
  const client = sdk(world, (await connect(world)).access_token)
  const root = await client.posts.create({ text: 'The first of a thread' })
  const reply = await client.posts.create({ text: 'The second of a thread', reply: { inReplyToTweetId: root.data!.id! } })
  expect(BigInt(reply.data!.id!)).toBeGreaterThan(BigInt(root.data!.id!))

  const read = await client.posts.getById(reply.data!.id!, {
    postFields: ['created_at', 'conversation_id'],
    expansions: ['author_id', 'in_reply_to_user_id', 'referenced_posts'],
  })
  expect(read.data).toMatchObject({
    text: 'The second of a thread',
    createdAt: '2026-03-01T12:00:00.000Z',
    conversationId: root.data!.id,
    inReplyToUserId: accountId,
    referencedPosts: [{ type: 'replied_to', id: root.data!.id }],
  })
  expect(read.includes?.users?.[0]?.username).toBe(world.sandbox.demo.x.account.username)
  expect(read.includes?.posts?.[0]?.text).toBe('The first of a thread')

  for (const number of [3, 4, 5, 6, 7]) await client.posts.create({ text: `Another one, number ${number}` })
  const first = await client.users.getPosts(accountId, { maxResults: 5, exclude: ['retweets'] })
  expect(first.data?.map(post => post.text)).toEqual([7, 6, 5, 4, 3].map(number => `Another one, number ${number}`))
  expect(first.meta).toMatchObject({ resultCount: 5 })
  const rest = await client.users.getPosts(accountId, { maxResults: 5, paginationToken: first.meta!.nextToken! })
  expect(rest.data?.map(post => post.id)).toEqual([reply.data!.id, root.data!.id])
  expect(rest.meta?.nextToken).toBeUndefined()
  expect((await client.posts.getByIds([root.data!.id!, reply.data!.id!])).data).toHaveLength(2)

  expect((await client.posts.delete(reply.data!.id!)).data?.deleted).toBe(true)
  expect((await client.users.getPosts(accountId, { maxResults: 100 })).meta?.resultCount).toBe(6)
})

test('the official SDK gets X-shaped errors', async () => {
  await using world = await stage()
  const client = sdk(world, (await connect(world)).access_token)
  await client.posts.create({ text: 'Said once' })
  const refusal = await client.posts.create({ text: 'Said once' }).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(ApiError)
  expect(refusal).toMatchObject({
    status: 403,
    data: { title: 'Forbidden', detail: 'You are not allowed to create a Tweet with duplicate content.', type: 'about:blank', status: 403 },
  })
  await expect(sdk(world, 'a token of nobody').users.getMe()).rejects.toMatchObject({
    status: 401,
    data: { title: 'Unauthorized', status: 401, detail: 'Unauthorized', type: 'about:blank' },
  })
})
