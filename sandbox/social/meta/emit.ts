import { createHmac } from 'node:crypto'
import type { Control } from '../../network.ts'
import type { Account, OauthWorld } from '../../oauth/world.ts'

const events = ['deauthorize', 'data-deletion'] as const

/**
 * `emit`: `{ event, account, signature = good, ageSeconds = 0 }` tells the platform that an account took its permission back, or wants its
 * data deleted, signed with the demo application's secret (or with another), and answers `{ status, body, signedRequest }`.
 *
 * It is told where the demo application is sent back to: a developer registers both addresses there.
 * @param idOf what the network calls an account in what it sends
 */
export const emitter =
  (world: OauthWorld, idOf: (account: Account) => string): Control =>
  async ({ event, account: username, signature = 'good', ageSeconds = 0, ...others }) => {
    const unknown = Object.keys(others)
    if (unknown.length > 0) return `${unknown.join(', ')} is not known here: emit takes network, event, account, signature and ageSeconds.`
    if (!events.some(one => one === event)) return `event is ${JSON.stringify(event)}: expected ${events.join(' or ')}.`
    if (signature !== 'good' && signature !== 'bad') return `signature is ${JSON.stringify(signature)}: expected good or bad.`
    if (typeof ageSeconds !== 'number' || !Number.isInteger(ageSeconds)) return `ageSeconds is ${JSON.stringify(ageSeconds)}: expected whole seconds.`
    const account = world.accounts.values().find(one => one.username === username)
    if (!account) return `account is ${JSON.stringify(username)}: no account of that name has consented to anything here.`
    const { secret, redirectUris } = world.demo.client()
    const redirect = redirectUris.find(uri => uri.includes(`/${world.name}/`))
    if (!redirect) return 'The demo application is registered with no address: nobody can be told.'
    const issuedAt = Math.floor(world.clock.now().getTime() / 1000) - ageSeconds
    const signedRequest = sign(signature === 'good' ? secret : `${secret}.`, { algorithm: 'HMAC-SHA256', issued_at: issuedAt, user_id: idOf(account) })
    const answer = await fetch(`${new URL(redirect).origin}/publishing/api/callbacks/${world.name}/${event}`, {
      method: 'POST',
      body: new URLSearchParams({ signed_request: signedRequest }),
      signal: AbortSignal.timeout(10_000),
      redirect: 'manual',
    }).catch(error => String(error.cause ?? error))
    if (typeof answer === 'string') return `The platform could not be told: ${answer}.`
    return { status: answer.status, body: parsed(await answer.text()), signedRequest }
  }

/** https://developers.facebook.com/docs/facebook-login/guides/advanced/existing-system#parsingsr */
function sign(secret: string, payload: object): string {
  const encoded = Buffer.from(JSON.stringify(payload)).toString('base64url')
  return `${createHmac('sha256', secret).update(encoded).digest('base64url')}.${encoded}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
