import { describe, expect, it } from 'vitest'
import { exchangeCode, loginRedirect } from '../../../../subgraphs/payments/http/session.ts'
import { openDoor } from '../../../kit/door.ts'
import { supergraph } from '../../../kit/supergraph.ts'

const addresses = { auth: 'https://id.test', gateway: 'https://gate.test', app: 'https://pay.test' }

describe('GET /payments/login', () => {
  const leadsTo = (returnTo: string) => {
    const { status, headers } = loginRedirect(addresses, new Request(`https://pay.test/payments/login?return_to=${encodeURIComponent(returnTo)}`))
    return [status, headers.get('cache-control'), headers.get('location')]
  }

  it('sends the browser to the hosted sign-in with the path to come back to', () => {
    expect(leadsTo('/orders?status=paid')).toEqual([302, 'no-store', 'https://id.test/identity/login?service=payments&return_to=%2Forders%3Fstatus%3Dpaid'])
  })

  it.each(['https://evil.example', '//evil.example', '/\\evil.example', '', '/a\nb'])('comes back to the start when return_to is %j', path => {
    expect(leadsTo(path)[2]).toBe('https://id.test/identity/login?service=payments&return_to=%2F')
  })
})

describe('POST /payments/api/session', () => {
  it('exchanges a code once for a token of the person, without a cookie, and refuses it to pages of other origins', async () => {
    await using graph = await supergraph({ now: new Date().toISOString() })
    await using door = await openDoor(graph)
    const password = 'correct horse battery'
    await graph.platform.identity.provision({
      password,
      people: [{ email: 'ada@acme.test', name: 'Ada' }],
      organizations: [{ slug: 'acme', name: 'Acme', members: [{ email: 'ada@acme.test', roles: ['owner'] }] }],
      keys: [],
    } as never)
    const headers = await door.signIn('ada@acme.test', password)
    const mint = async (service: string) =>
      (await door.ask('POST', '/identity/api/auth/handoff', { headers, body: { service, returnTo: '/orders' } })).json.code as string
    const exchange = (code: string, headers: Record<string, string> = {}) => door.ask('POST', '/payments/api/session', { headers, body: { code } })
    const code = await mint('payments')
    expect((await exchange(code, { origin: 'https://evil.example' })).status).toBe(403)
    const answers = await Promise.all([exchange(code), exchange(code), exchange(code)])
    const [won, ...more] = answers.filter(({ status }) => status === 200)
    expect(more).toEqual([])
    expect(won).toMatchObject({ headers: { 'cache-control': 'no-store' }, json: { returnTo: '/orders', accessToken: expect.stringMatching(/^eyJ/) } })
    expect(won!.headers['set-cookie']).toBeUndefined()
    for (const refused of [...answers.filter(({ status }) => status !== 200), await exchange(await mint('publishing')), await exchange('guessed')])
      expect(refused).toMatchObject({ status: 400, json: { code: 'BAD_USER_INPUT', reason: 'CODE' } })
  })

  it('says that an operator has to give it a token when it cannot call identity', async () => {
    const request = new Request('https://pay.test/payments/api/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: 'one' }),
    })
    const exchange = exchangeCode({ addresses, call: null, serviceId: async () => 'id' }, request)
    await expect(exchange).rejects.toMatchObject({ message: expect.stringContaining('APP_SERVICE_TOKENS'), extensions: { code: 'UPSTREAM_FAILED' } })
  })
})
