import { expect, test } from 'vitest'
import { openIdentity, requestSignIn } from '../subgraphs/identity/identity-world.ts'
import { supergraph } from './supergraph.ts'

const secret = 'a-secret-that-a-test-has-planted'

test.each([
  ['a line of the log', async (graph: Awaited<ReturnType<typeof supergraph>>) => graph.job.log.info({ note: secret }, 'planted')],
  ['a span of a trace', async (graph: Awaited<ReturnType<typeof supergraph>>) => graph.secrets.tracing.begin(`GET /${secret}`, 'server', undefined).end()],
  [
    'an entry of a record',
    (graph: Awaited<ReturnType<typeof supergraph>>) =>
      graph.rows(`insert into identity.audit_entries (tenant_id, id, at, actor, action, subject_id, details)
        values (gen_random_uuid(), gen_random_uuid(), now(), 'test', 'api_key.created', gen_random_uuid(), '{"note": "${secret}"}')`),
  ],
])('a secret that a test has seen is found in %s when its supergraph closes', async (_, plant) => {
  const graph = await supergraph()
  graph.secrets.note({ input: { currentPassword: secret } })
  await plant(graph)
  await expect(graph[Symbol.asyncDispose]()).rejects.toThrow(secret)
})

test('a secret that is stored nowhere is not searched, and error names are no secrets', async () => {
  await using graph = await supergraph()
  graph.secrets.note({ secret, errors: [{ code: 'UNAUTHENTICATED' }] })
  graph.job.log.info({ code: 'UNAUTHENTICATED' }, 'fine')
})

test('submitted forms and answers are searched too', async () => {
  const graph = await supergraph()
  const code = 'c'.repeat(43)
  graph.secrets.noteFields(new URLSearchParams({ code }))
  graph.job.log.info({ note: code }, 'planted')
  await expect(graph[Symbol.asyncDispose]()).rejects.toThrow(code)
})

test('identity’s own database is searched as well: before it is emptied, and when it closes', async () => {
  const open = await openIdentity()
  await requestSignIn(open.identity, 'nobody@acme.test', secret)
  await open.requireNoLeaks()
  open.foundation.log.info({ note: secret }, 'planted')
  await expect(open.requireNoLeaks()).rejects.toThrow(secret)
  await expect(open[Symbol.asyncDispose]()).rejects.toThrow(secret)
})
