import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freePort, launch, readyLine } from '../kit/launch.ts'
import { runFolderVariable } from '../kit/run/folder.ts'

/** One case of the audit: an operation, the data that it must answer, and sometimes whether errors must stand beside. */
interface Case {
  readonly query: string
  readonly expected: { readonly data?: unknown; readonly errors?: boolean }
}

const audit = process.env.FEDERATION_AUDIT_URL?.replace(/\/$/, '')
const read = async (path: string) => {
  const response = await fetch(`${audit}${path}`)
  if (!response.ok) throw new Error(`the audit's server answers ${response.status} at ${path}`)
  return response
}
const suites = audit ? ((await (await read('/ids')).json()) as string[]) : []
if (!audit) console.log('skipped: the federation audit needs its own server; docs/conformance.md says how to start it, then set FEDERATION_AUDIT_URL')

describe.runIf(audit)('S-12 the federation gateway audit passes, suite', () => {
  test('all suites exist', () => expect(suites.length).toBeGreaterThanOrEqual(46))

  test.for(suites)('%s', async suite => {
    const file = join(mkdtempSync(join(process.env[runFolderVariable]!, 'audit-')), 'supergraph.graphql')
    writeFileSync(file, await (await read(`/${suite}/supergraph`)).text())
    const port = await freePort()
    const router = launch('npm', ['run', '--silent', 'start:router', '--', '--supergraph', file, '--port', String(port)])
    try {
      await router.printed(readyLine)
      // Read for every run: the server makes some cases anew each time.
      for (const { query, expected } of (await (await read(`/${suite}/tests`)).json()) as Case[]) {
        const response = await fetch(`http://localhost:${port}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json' },
          body: JSON.stringify({ query }),
        })
        const { data = null, errors } = (await response.json()) as { data?: unknown; errors?: unknown[] }
        expect({ query, data }).toEqual({ query, data: expected.data ?? null })
        if (expected.errors !== undefined) expect({ query, errors: Boolean(errors?.length) }).toEqual({ query, errors: expected.errors })
      }
    } finally {
      if (router.child.exitCode === null) process.kill(-router.child.pid!, 'SIGTERM')
      await router.ended
    }
  })
})
