import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { paths } from './routes.generated.ts'
import { signIn } from './session.ts'

/** A client that openapi-typescript made of the platform's document: paths, bodies and answers are checked by the compiler. */
export async function walkWithOpenapi(url: string): Promise<void> {
  const client = createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${await signIn(url)}` } })
  const brands = await client.GET('/publishing/api/brands', { params: { query: { first: 1 } } })
  const brandId = brands.data?.brands[0]?.id
  assert.ok(brandId, 'the demo world has a brand')

  const body = { brandId, platform: 'x' as const, copy: `Written over REST, ${new Date().toISOString()}` }
  const once = { params: { header: { 'Idempotency-Key': crypto.randomUUID() } }, body }
  const made = await client.POST('/publishing/api/posts', once)
  const again = await client.POST('/publishing/api/posts', once)
  assert.equal(made.response.status, 201)
  assert.equal(made.data?.status, 'draft')
  assert.equal(again.data?.id, made.data?.id, 'the same key makes one post')
  const id = made.data!.id

  const seen = made.response.headers.get('etag')!
  const at = (tag: string) => ({ path: { id }, header: { 'If-Match': tag } })
  const changed = await client.PUT('/publishing/api/posts/{id}', { params: at(seen), body: { copy: `${body.copy}, and changed` } })
  assert.equal(changed.data?.version, 2)
  const late = await client.PUT('/publishing/api/posts/{id}', { params: at(seen), body: { copy: 'Too late' } })
  assert.deepEqual([late.response.status, late.error?.code, late.error?.reason], [409, 'CONFLICT', 'STALE_VERSION'])

  const drafts = await client.GET('/publishing/api/posts', { params: { query: { brandId, status: 'draft', first: 100 } } })
  assert.ok(drafts.data?.posts.some(post => post.id === id))
  const gone = await client.DELETE('/publishing/api/posts/{id}', { params: { path: { id } } })
  assert.equal(gone.response.status, 204)
  const missing = await client.GET('/publishing/api/posts/{id}', { params: { path: { id } } })
  assert.equal(missing.error?.code, 'NOT_FOUND')
}
