import { expect, test } from 'vitest'
import { openDoor } from '../../../kit/door.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { seedCredential } from './seed.ts'

const secret = 'sk-Zx9-this-is-nowhere-to-be-found'

test('G-01 a secret is in no answer, error, log line, stack, and in no row as it is, whatever is done with it', async () => {
  await using graph = await supergraph({ now: new Date().toISOString() })
  await using door = await openDoor(graph)
  const password = 'correct horse battery'
  await graph.platform.identity.provision({
    password,
    people: [{ email: 'owner@test.test', name: 'Owner' }],
    organizations: [{ slug: 'acme', name: 'Acme', members: [{ email: 'owner@test.test', roles: ['owner'] }] }],
    keys: [],
  })
  const headers = await door.signIn('owner@test.test', password)
  const answers: string[] = []
  const ask = async (method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
    const answer = await door.ask(method, path, { headers: { ...headers, ...more }, ...(body !== undefined && { body }) })
    answers.push(`${answer.text} ${JSON.stringify(answer.headers)}`)
    return answer
  }
  const path = '/providers/api/credentials'
  const keyed = (idempotencyKey: string) => ({ 'idempotency-key': idempotencyKey })
  const body = { provider: 'openai', fields: [{ name: 'apiKey', value: secret }] }
  const made = await ask('POST', path, body, keyed('k'))
  expect(made.status).toBe(201)
  const one = `${path}/${made.json.id}`
  // Read, repeated, refused for each reason there is, in either door, with the secret where it belongs and where it does not.
  await ask('GET', path)
  await ask('GET', one)
  const statuses = []
  for (const [input, key] of [
    [body, 'k'],
    [{ ...body, fields: [{ name: 'apiKey', value: `${secret}!` }] }, 'k'],
    [body, 'other'],
    [{ ...body, fields: [...body.fields, ...body.fields] }, 'twice'],
    [{ ...body, fields: [...body.fields, { name: 'more', value: secret }] }, 'more'],
    [{ ...body, fields: [{ name: 'apiKey', value: `${secret}\n${secret}` }] }, 'lines'],
    [{ ...body, fields: [{ name: 'apiKey', value: [secret] }] }, 'list'],
    [{ ...body, fields: [{ name: 'apiKey', value: { of: secret } }] }, 'object'],
    [{ ...body, fields: [{ name: 'apiKey', apiKey: secret }] }, 'key of its own'],
    [{ ...body, fields: [{ name: 'apiKey', value: secret.repeat(200) }] }, 'long'],
    [{ ...body, fields: secret }, 'no list'],
    [{ ...body, fields: { apiKey: secret } }, 'no list either'],
    [{ provider: 'custom', name: 'a', baseUrl: 'http://10.0.0.1', fields: body.fields }, 'inside'],
  ] as const)
    statuses.push((await ask('POST', path, input, keyed(key))).status)
  expect(statuses).toEqual([201, 409, 409, ...Array(10).fill(400)])
  const document = 'mutation($input: CreateCredentialInput!) { createCredential(input: $input) { id fields { value masked } } }'
  for (const input of [body, { ...body, provider: 'stripe' }, { ...body, fields: [{ name: 'apiKey', value: [secret] }] }])
    await ask('POST', '/graphql', { query: document, variables: { input } })
  for (const value of [`"${secret}"`, `"${secret}`])
    await ask('POST', '/graphql', {
      query: `mutation { createCredential(input: { provider: "openai", fields: [{ name: "apiKey", value: ${value} }] }) { id } }`,
    })
  // A database that fails in the middle of it.
  await graph.rows('alter table providers.credentials rename to elsewhere')
  expect((await ask('POST', path, { ...body, provider: 'anthropic' })).status).toBe(500)
  await graph.rows('alter table providers.elsewhere rename to credentials')
  expect((await ask('DELETE', one)).status).toBe(204)

  const kept = await graph.rows<{ line: string }>(
    `select t::text as line from providers.credentials t union all select t::text from providers.audit_entries t
     union all select t::text from providers.idempotency_keys t union all select t::text from providers.facts t`,
  )
  expect(graph.log.length).toBeGreaterThan(0)
  expect([...answers, ...graph.log, ...kept.map(({ line }) => line)].filter(each => each.includes(secret))).toEqual([])
})

test('a secret with a missing encryption key is logged by the key’s name, and usable again once the key is back', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  const input = { provider: 'openai', fields: [{ name: 'apiKey', value: secret }], idempotencyKey: 'k' }
  const make = () => graph.execute('mutation($input: CreateCredentialInput!) { createCredential(input: $input) { id } }', { input }, { as: owner })
  const made = (await make()).data()
  const { providers } = graph.platform
  await providers.ready!()
  await graph.rows(`update providers.credentials set secret = replace(secret, 'v1.test', 'v1.gone')`)
  for (let times = 0; times < 2; times++)
    await expect(providers.ready!()).rejects.toMatchObject({ name: 'NotReady', message: expect.stringContaining('encryption key gone is missing') })
  expect(graph.log.filter(line => line.includes('credentials of providers cannot be used'))).toHaveLength(1)
  expect((await graph.execute('{ credentials { nodes { fields { masked } } } }', {}, { as: owner })).data().credentials.nodes).toEqual([
    { fields: [{ masked: '••••ound' }] },
  ])
  ;(await make()).refused('INTERNAL_SERVER_ERROR')
  await graph.rows(`update providers.credentials set secret = replace(secret, 'v1.gone', 'v1.test')`)
  await providers.ready!()
  expect((await make()).data()).toEqual(made)
})

test('G-01 an encrypted secret can be decrypted in its own row only', async () => {
  await using graph = await supergraph()
  const { organization } = await graph.seed.owner()
  const [one, other] = [await seedCredential(graph, { organizationId: organization.id }), await seedCredential(graph, { organizationId: organization.id })]
  const { credentials } = graph.platform.providers.job('test')
  expect(credentials.open(one)).toBe(credentials.open(other))
  expect(() => credentials.open({ id: other.id, secret: one.secret })).toThrow()
})
