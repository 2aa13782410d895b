import { expect, it, vi } from 'vitest'
import { dies } from '../../../kit/dies.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { shop } from './stage.ts'

it.each([
  'policy-claimed',
  'policy-handed-over',
  'policy-polled',
  'policy-decision-written',
  'policy-decision-committed',
  'run-call-recorded',
  'run-call-answered',
])('an action that crosses organizations is asked about under one id and executed once when a process dies at %s', async point => {
  await using graph = await supergraph({ sandbox: true })
  const { act, read, control, noted } = await shop(graph)
  let id = ''
  await dies(point, async () => {
    id = (await act('poll.peer', point, { policyTimeoutSeconds: 300 })).id
    const passed = async () => {
      await graph.clock.run(1_000)
      return vi.mocked(process.kill).mock.calls.length
    }
    await expect.poll(passed, { timeout: 20_000 }).toBeGreaterThan(0)
  })
  const status = async () => {
    await graph.clock.run(1_000)
    return (await read(id)).status
  }
  await expect.poll(status, { timeout: 20_000 }).toBe('SUCCEEDED')
  expect(await noted()).toEqual([point])
  const asked = (await control('received?network=settlement')) as { path: string; id: string }[]
  expect(new Set(asked.map(each => each.id)).size).toBe(1)
  expect(await graph.rows(`select 1 from agents.audit_entries where action = 'policy_request.decided'`)).toHaveLength(1)
  const [feed] = await graph.rows<{ lines: number }>(`select count(*)::int as lines from agents.work_feed where kind in ('POLICY_REQUESTED', 'POLICY_DECIDED')`)
  expect(feed).toEqual({ lines: 2 })
})
