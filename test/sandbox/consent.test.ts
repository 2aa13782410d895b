import { expect, test } from 'vitest'
import { post, send, serverOf, stage, wish } from './stage.ts'

type Staged = Awaited<ReturnType<typeof stage>>

/** Connects as an account that the address names, and answers what came of it. */
async function connectAs(world: Staged, account: string) {
  const { address, verifier } = wish(world.sandbox, { sandbox_account: account })
  const { headers } = await send(address.href)
  const code = new URL(headers.get('location')!).searchParams.get('code')!
  const redirectUri = address.searchParams.get('redirect_uri')!
  const answer = await post(world.sandbox, '/2/oauth2/token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier })
  return answer.body as { access_token: string; refresh_token: string }
}

const me = async (world: Staged, token: string) => world.call(token, 'GET', '/2/users/me')
const publish = (world: Staged, token: string, text: string) => world.call(token, 'POST', '/2/tweets', { text })
const renew = (world: Staged, token: string) => post(world.sandbox, '/2/oauth2/token', { grant_type: 'refresh_token', refresh_token: token })

test('the account named in an address consents; it is created when unknown, and found again', async () => {
  await using world = await stage()
  const [one, two, again] = [await connectAs(world, 'anna_1'), await connectAs(world, 'ben_2'), await connectAs(world, 'anna_1')]
  const shown = await Promise.all([one, two, again].map(async ({ access_token: token }) => (await me(world, token)).body.data))
  expect(shown.map(({ username }) => username)).toEqual(['anna_1', 'ben_2', 'anna_1'])
  expect(shown[0].name).toContain('anna_1')
  expect(shown[2].id).toBe(shown[0].id)
  expect(shown[1].id).not.toBe(shown[0].id)
  for (const name of ['Anna', 'a'.repeat(31), 'a b', '']) {
    const { address } = wish(world.sandbox)
    address.searchParams.set('sandbox_account', name)
    expect((await send(address.href)).status, name).toBe(400)
  }
})

test('an address declines as it approves', async () => {
  await using world = await stage()
  const { status, headers } = await send(wish(world.sandbox, { sandbox_approve: '0' }).address.href)
  expect(status).toBe(302)
  expect(new URL(headers.get('location')!).search).toBe('?error=access_denied&state=a+state')
  expect(serverOf(world.sandbox).issuer).toContain('/x')
})

test('a fault for one account is used up by that account’s calls only, before one of the whole network', async () => {
  await using world = await stage()
  const [anna, ben] = [await connectAs(world, 'anna'), await connectAs(world, 'ben')]
  await world.arm({ fault: 'status', status: 503, account: 'anna' })
  await world.arm({ fault: 'status', status: 500 })
  expect((await publish(world, anna.access_token, 'one')).status).toBe(503)
  expect((await publish(world, ben.access_token, 'two')).status).toBe(500)
  expect((await publish(world, anna.access_token, 'three')).status).toBe(201)
  await world.arm({ fault: 'status', status: 503, account: 'anna' })
  await world.arm({ fault: 'status', status: 503, account: 'ben' })
  expect((await world.arm({ fault: 'none', account: 'anna' })).body).toMatchObject([{ account: 'ben' }])
  expect((await world.arm({ fault: 'none' })).body).toEqual([])
  expect((await world.arm({ fault: 'none', account: 'Anna B' })).status).toBe(400)
})

test('a revoked grant is invalid for calls and renewals, and the next consent is valid', async () => {
  await using world = await stage()
  const [anna, ben] = [await connectAs(world, 'anna'), await connectAs(world, 'ben')]
  await world.arm({ fault: 'grant-revoked', account: 'anna' })
  expect((await publish(world, ben.access_token, 'mine stays')).status).toBe(201)
  expect((await publish(world, anna.access_token, 'mine goes')).status).toBe(401)
  expect((await me(world, anna.access_token)).status).toBe(401)
  expect((await renew(world, anna.refresh_token)).status).toBe(400)
  await world.arm({ fault: 'grant-revoked', account: 'ben' })
  expect((await renew(world, ben.refresh_token)).status, 'spent by a renewal too').toBe(400)
  expect((await me(world, (await connectAs(world, 'anna')).access_token)).status).toBe(200)
})
