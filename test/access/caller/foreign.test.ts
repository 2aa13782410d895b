import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { systemClock } from '../../../platform/clock.ts'
import { isCaller } from '../../../router/access/authenticate.ts'
import { createForeignCallers } from '../../../router/access/callers/foreign.ts'
import type { ForeignPerson } from '../../../subgraphs/authority.ts'

const issuer = 'https://login.example'
const organization = 'o1'

/** An issuer with a key, and somebody who comes with a token of it. */
async function door() {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  let elapsed = 0
  let published: readonly object[] = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }]
  const people = new Map<string, ForeignPerson>([['ada', { userId: 'u1', suspended: false, memberships: { [organization]: ['member'] } }]])
  const byToken = createForeignCallers(
    { issuer, jwksUrl: `${issuer}/jwks`, audience: 'supergraph' },
    { foreigners: async subjects => new Map([...people].filter(([subject]) => subjects.includes(subject))), admit: async () => {} },
    {
      outbound: (async () => ({ status: 200, text: JSON.stringify({ keys: published }) })) as never,
      clock: systemClock,
      log: { warn: () => {} },
      elapsed: () => elapsed,
    },
  )
  const token = await new SignJWT({ sub: 'ada' })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuer(issuer)
    .setAudience('supergraph')
    .setExpirationTime('1 hour')
    .sign(privateKey)
  const caller = await byToken(token, new Headers({ 'x-organization-id': organization }))
  if (!isCaller(caller)) throw caller.refusal
  return {
    stands: caller.credential.stands!,
    people,
    publish: (keys: readonly object[]) => {
      published = keys
    },
    pass: (ms: number) => {
      elapsed += ms
    },
  }
}

test.each([
  ['is suspended', { suspended: true }],
  ['leaves the organization', { memberships: {} }],
  ['gets another role', { memberships: { [organization]: ['viewer' as const] } }],
])('who %s stands no more at the next look, however lately they called', async (_what, change) => {
  const { stands, people, pass } = await door()
  pass(1)
  expect(await stands()).toBe(true)
  people.set('ada', { ...people.get('ada')!, ...change })
  pass(1)
  expect(await stands()).toBe(false)
})

test('ends streams of a token whose signing key the issuer has revoked, once its keys are read again', async () => {
  const { stands, publish, pass } = await door()
  const next = await generateKeyPair('ES256')
  publish([{ ...(await exportJWK(next.publicKey)), kid: 'two', alg: 'ES256' }])
  pass(1000)
  expect(await stands()).toBe(true)
  pass(300_000)
  // Requests do not wait for the issuer meanwhile.
  expect(await stands()).toBe(true)
  await expect.poll(stands).toBe(false)
})
