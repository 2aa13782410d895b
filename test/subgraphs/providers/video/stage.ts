import { newId } from '../../../../platform/ids.ts'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, type SupergraphOptions, supergraph } from '../../../kit/supergraph.ts'

export const origin = 'http://localhost:4000'

/** An app that may call the video network, in an organization. */
export const service = (organizationId: string, appId = 'app_publishing'): Viewer => ({
  ...anonymous,
  kind: 'service',
  appId,
  organizationId,
  context: 'organization',
  scopes: ['providers:service.invoke'],
  operations: ['VIDEO', 'NETWORK_APPLICATIONS'],
  onlyAt: 'providers',
})

/** A platform whose video network is played, and somebody with an account there. */
export async function videoWorld(options: SupergraphOptions = {}) {
  const graph: Supergraph = await supergraph({ sandbox: true, ...options })
  const control = async (path: string, body?: object) => {
    const answer = await fetch(`${graph.x.origin}/_control/${path}`, {
      ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ network: 'youtube', ...body }) }),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return answer.json()
  }
  const { token } = (await control('tokens', {})) as { token: string }
  const organizationId = newId()
  const call = (path: string, { as = service(organizationId), headers = {}, ...init }: RequestInit & { as?: Viewer; duplex?: 'half' } = {}) =>
    graph.platform.providers.http!(
      new Request(`${origin}/providers/platform/youtube/${path}`, {
        ...init,
        headers: { 'x-connection-token': token, ...(headers as Record<string, string>) },
      }),
      as,
    )
  return {
    graph,
    token,
    organizationId,
    call,
    list: (as?: Viewer) => call('youtube/v3/channels?part=id,snippet&mine=true', as ? { as } : {}),
    arm: (fault: object) => control('faults', fault),
    received: async () => (await control('received?network=youtube')) as readonly Record<string, unknown>[],
    used: () =>
      graph.rows<{ bucket: string; day: string; used: number }>('select bucket, day::text, used from providers.video_quota_days order by bucket, day'),
    calls: () =>
      graph.rows<Record<string, unknown>>(
        'select family, operation, status, app_id as "appId", units, cost_micros::int as "costMicros" from providers.calls order by created_at, id',
      ),
    [Symbol.asyncDispose]: () => graph[Symbol.asyncDispose](),
  }
}
