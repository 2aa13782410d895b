import { Webhook } from 'standardwebhooks'
import { expect } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import type { Door } from '../../../kit/door.ts'
import { policySecret } from '../../../kit/stand-in.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

const run = `id status trigger output failure { code message stepKey }
  steps { id key status attempt input output failure { code message } approval { id status argumentsHash counterparty }
    policy { requestId counterparty actionHash decision reason decidedAt expiresAt } }`
const mutation = (name: string, selection: string) =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`

/** A request as the settlement and policy service has received it. */
export interface Asked {
  readonly id: string
  readonly counterparty: string
  readonly actionHash: string
  readonly action: { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }
  readonly [field: string]: unknown
}

/** An owner with a connector to the sandbox's server of tools, whose create_note needs nobody. */
export async function shop(graph: Supergraph) {
  const { owner, outsider } = await graph.seed.owner().outsider()
  const tries = (name: string, input: object, selection = run, as: Viewer = owner) => graph.execute(mutation(name, selection), { input }, { as })
  const does = async (name: string, input: object, selection = run, as: Viewer = owner) => (await tries(name, input, selection, as)).data()[name]
  const { id: connectorId } = await does('createConnector', { name: 'Tools', kind: 'MCP', baseUrl: `${graph.x.origin}/mcp` }, 'id')
  await does('checkConnector', { id: connectorId }, 'id')
  await does('updateConnector', { id: connectorId, tools: [{ name: 'create_note', permission: 'AUTO' }] }, 'id')
  const control = async (path: string, body?: object) =>
    (
      await fetch(`${graph.x.origin}/_control/${path}`, body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    ).json()
  const read = async (id: string) => (await graph.execute(`query($id: ID!) { run(id: $id) { ${run} } }`, { id }, { as: owner })).data().run
  const asked = async (): Promise<readonly Asked[]> =>
    ((await control('received?network=settlement')) as { path: string; text: string }[])
      .filter(({ path }) => path.endsWith('/v1/policy-requests'))
      .map(({ text }) => JSON.parse(text) as Asked)
  const act = (counterparty: string | undefined, text: string, more: object = {}) =>
    does('executeAction', { connectorId, tool: 'create_note', arguments: { text }, counterparty, purpose: 'To try it.', policyTimeoutSeconds: 60, ...more })
  return {
    ...{ owner, outsider, connectorId, tries, does, read, control, asked, act },
    arm: (fault: object) => control('faults', { network: 'settlement', times: 1, ...fault }),
    /** The texts of notes that were executed. */
    noted: async () => ((await control('received?network=mcp')) as { text: string }[]).map(({ text }) => text),
    /** Lets the present be worked off until the run stands so. */
    async until(id: string, status: string) {
      await expect
        .poll(
          async () => {
            await graph.clock.run(1)
            return (await read(id)).status
          },
          { timeout: 10_000 },
        )
        .toBe(status)
      return read(id)
    },
    /** Waits until the service has taken so many requests, and this is known here. */
    async untilAsked(count: number) {
      const taken = async () => (await graph.rows('select id from agents.policy_requests where accepted_at is not null')).length
      await expect
        .poll(
          async () => {
            await graph.clock.run(1)
            return taken()
          },
          { timeout: 10_000 },
        )
        .toBe(count)
      return asked()
    },
  }
}

/** Tells a decision as the service does. */
export function tell(
  { clock }: Pick<Supergraph, 'clock'>,
  door: Door,
  data: object,
  { secret = policySecret, ageSeconds = 0, type = 'policy.decided' }: { secret?: string; ageSeconds?: number; type?: string } = {},
) {
  const at = new Date(clock.now().getTime() - ageSeconds * 1_000)
  const body = JSON.stringify({ type, timestamp: at.toISOString(), data })
  const headers = {
    'content-type': 'application/json',
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
  }
  return door.ask('POST', '/agents/api/policy/decisions', { headers, body: Buffer.from(body) })
}
