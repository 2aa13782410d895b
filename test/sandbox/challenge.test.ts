import { expect, it } from 'vitest'
import { send, stage } from './stage.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** What the documentation of each provider shows: https://developers.cloudflare.com/turnstile/troubleshooting/testing/, https://docs.hcaptcha.com/#test-key-set-publisher-or-pro-account */
const published = [
  ['turnstile/v0', '1x0000000000000000000000000000000AA', 'XXXX.DUMMY.TOKEN.XXXX', true, []],
  ['turnstile/v0', '2x0000000000000000000000000000000AA', 'XXXX.DUMMY.TOKEN.XXXX', false, ['invalid-input-response']],
  ['turnstile/v0', '3x0000000000000000000000000000000AA', 'XXXX.DUMMY.TOKEN.XXXX', false, ['timeout-or-duplicate']],
  ['turnstile/v0', 'somebody', 'XXXX.DUMMY.TOKEN.XXXX', false, ['invalid-input-secret']],
  ['turnstile/v0', '0xSANDBOX', 'XXXX.DUMMY.TOKEN.XXXX', false, ['invalid-input-response']],
  ['turnstile/v0', '', 'x', false, ['missing-input-secret']],
  ['turnstile/v0', '1x0000000000000000000000000000000AA', '', false, ['missing-input-response']],
  ['hcaptcha', '0x0000000000000000000000000000000000000000', '10000000-aaaa-bbbb-cccc-000000000001', true, []],
  ['hcaptcha', '0x0000000000000000000000000000000000000000', 'another', false, ['not-using-dummy-passcode']],
  ['hcaptcha', 'somebody', 'x', false, ['invalid-input-secret']],
] as const

it.each(published)('answers at %s for secret %j and token %j as documented', async (path, secret, response, success, codes) => {
  await using world = await stage()
  const answer = await send(`${world.sandbox.origin}/challenge/${path}/siteverify`, {
    ...{ method: 'POST', headers: form, body: new URLSearchParams({ secret, response }).toString() },
  })
  expect([answer.status, answer.body]).toMatchObject([200, { success, 'error-codes': codes }])
})

it.each([
  ['turnstile', 'turnstile/v0', 300, ['timeout-or-duplicate'], ['timeout-or-duplicate']],
  ['hcaptcha', 'hcaptcha', 120, ['already-seen-response'], ['expired-input-response']],
] as const)('takes tokens of %s once, for their time, and says on which page they were made', async (provider, path, seconds, again, late) => {
  await using world = await stage()
  const token = async (more: object = {}) => {
    const made = await send(`${world.sandbox.origin}/_control/tokens`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ network: 'challenge', provider, ...more }) },
    })
    return (made.body as { token: string }).token
  }
  const verify = async (response: string) =>
    (
      await send(`${world.sandbox.origin}/challenge/${path}/siteverify`, {
        ...{ method: 'POST', headers: form, body: new URLSearchParams({ secret: '0xSANDBOX', response }).toString() },
      })
    ).body
  const fresh = await token({ hostname: 'shop.example' })
  expect(await verify(fresh)).toMatchObject({ success: true, hostname: 'shop.example' })
  expect(await verify(fresh)).toEqual({ success: false, 'error-codes': again })
  expect(await verify(await token({ ageSeconds: seconds - 1 }))).toMatchObject({ success: true })
  expect(await verify(await token({ ageSeconds: seconds + 1 }))).toEqual({ success: false, 'error-codes': late })
})

it('takes JSON at Turnstile alone', async () => {
  await using world = await stage()
  const body = JSON.stringify({ secret: '1x0000000000000000000000000000000AA', response: 'XXXX.DUMMY.TOKEN.XXXX' })
  const asked = (path: string) => send(`${world.sandbox.origin}/challenge/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect((await asked('turnstile/v0/siteverify')).body).toMatchObject({ success: true })
  expect((await asked('hcaptcha/siteverify')).body).toMatchObject({ success: false, 'error-codes': ['bad-request'] })
})
