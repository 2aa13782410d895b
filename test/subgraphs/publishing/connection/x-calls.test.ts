import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createOutbound } from '../../../../platform/outbound/outbound.ts'
import { createXOauth } from '../../../../subgraphs/publishing/network/x/oauth.ts'
import { createXPublish } from '../../../../subgraphs/publishing/network/x/publish.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { publication } from '../delivery/publication.ts'

const hello = publication({ accessToken: 't', account: { externalId: '7', name: '@a' }, copy: 'Hello' })

test('each publishing call uses a new connection, so that a kept-alive one that just closed causes no unknown outcome', async () => {
  let connections = 0
  const server = createServer((_, response) => response.writeHead(201, { 'content-type': 'application/json' }).end('{"data":{"id":"1"}}'))
  server.on('connection', () => (connections += 1))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const outbound = createOutbound([origin])
  try {
    const x = createXPublish({ apiUrl: origin }, outbound)
    for (let call = 1; call <= 3; call += 1) {
      expect((await x.publish(hello)).outcome).toBe('delivered')
      expect(connections).toBe(call)
    }
  } finally {
    await outbound.close()
    server.closeAllConnections()
    server.close()
  }
})

test('a renewal has half a minute, because a lost answer costs the connection; an exchange has eight seconds, because a person waits', async () => {
  const times: (number | undefined)[] = []
  const grant = { access_token: 'a', token_type: 'bearer', refresh_token: 'r', expires_in: 7200 }
  const headers = new Headers({ 'content-type': 'application/json' })
  const x = createXOauth(
    { clientId: 'c', clientSecret: 's', authorizeUrl: 'https://x.test/authorize', apiUrl: 'https://x.test', legacyApiUrl: 'https://legacy.x.test' },
    async (_url, options) => {
      times.push(options?.timeoutMs)
      return { status: 200, headers, text: JSON.stringify(grant) }
    },
  )
  await x.refresh({ accessToken: 'a', refreshToken: 'r' })
  await x.exchange({ parameters: new URLSearchParams({ code: 'c', state: 's' }), redirectUri: 'https://here.test', state: 's', verifier: 'v'.repeat(43) })
  expect(times).toEqual([30_000, 8_000])
})

describe('P-10 a look-up finds', () => {
  /** The account with a post of its own and a reply to it. */
  const listed = async () => {
    const graph = await supergraph({ sandbox: true })
    const { connection } = await graph.seed.owner().brand().connection()
    const x = graph.job.networks.get('X')!
    const { accessToken } = graph.job.connections.open(connection)
    const account = { externalId: connection.externalAccountId, name: connection.accountName }
    const publish = async (copy: string, inReplyTo: string | null = null) => {
      const delivery = await x.publish(publication({ accessToken, account, copy, inReplyTo }))
      if (delivery.outcome !== 'delivered') throw new Error(JSON.stringify(delivery))
      return delivery.platformPostId
    }
    const find = (copy: string, inReplyTo: string | null, since: Date, except: string[] = []) =>
      x.find(publication({ accessToken, account, copy, inReplyTo }), since, new Set(except))
    return { graph, publish, find }
  }

  test('posts written since the attempt, and nothing older with the same text', async () => {
    const { graph, publish, find } = await listed()
    await using _ = graph
    const id = await publish('Hello')
    const at = graph.clock.now()
    expect(await find('Hello', null, at)).toMatchObject({ found: true, platformPostId: id })
    expect(await find('Hello', null, new Date(at.getTime() + 60_000))).toEqual({ found: false, isAnothers: false })
  })

  test('the same text only at its intended position: alone, or as a reply to that post', async () => {
    const { graph, publish, find } = await listed()
    await using _ = graph
    const at = graph.clock.now()
    const head = await publish('Head')
    const reply = await publish('Reply', head)
    expect(await find('Reply', head, at)).toMatchObject({ found: true, platformPostId: reply })
    expect(await find('Reply', null, at)).toEqual({ found: false, isAnothers: false })
    expect(await find('Head', reply, at)).toEqual({ found: false, isAnothers: false })
  })

  test('no post that is linked to another one, and reports that', async () => {
    const { graph, publish, find } = await listed()
    await using _ = graph
    const at = graph.clock.now()
    const id = await publish('Hello')
    expect(await find('Hello', null, at, [id])).toEqual({ found: false, isAnothers: true })
    expect(await find('Other', null, at, [id])).toEqual({ found: false, isAnothers: false })
  })
})
