import { OutboundFailure } from '../../../platform/outbound/failure.ts'
import type { Outbound, OutboundAnswer } from '../../../platform/outbound/outbound.ts'
import type { Dial } from '../../../platform/smtp/line.ts'
import { MailFault, openLine } from '../../../platform/smtp/line.ts'
import type { Addresses } from '../engines/third-party/addresses.ts'
import { isModelVendor, type ProviderName, providerOf } from '../engines/third-party/catalogue.ts'
import type { CredentialRow } from '../stores/credential/credential.ts'

/** Result of a trial call. */
export interface Trial {
  /** Null: the provider itself is out of order, so nothing is known. `untried`: no call was made. */
  readonly status: 'WORKING' | 'FAILING' | 'untried' | null
  readonly message: string
}

/** Dependencies of trial calls. */
export interface Trying {
  readonly outbound: Outbound
  readonly dial: Dial
  readonly thirdParties: Addresses
}

/** Time limit of a trial call in ms. */
const trialMs = 10_000

type Place = Pick<CredentialRow, 'provider' | 'baseUrl' | 'plain'>

/** Tries a secret by a free call at its provider. It never throws for a provider's failure. */
export async function trialOf(trying: Trying, place: Place, secret: string): Promise<Trial> {
  const provider = place.provider as ProviderName
  const { family, title } = providerOf(provider)
  if (family === 'NETWORK')
    return { status: 'untried', message: `An application at ${title} is tried when a person connects an account: the network takes no call without one.` }
  if (provider === 'smtp') return mailTrial(trying, place, secret)
  const { url, headers } = callOf(trying.thirdParties, place, secret)
  try {
    return judged(await trying.outbound(url, { headers: { accept: 'application/json', ...headers }, timeoutMs: trialMs }), title)
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error
    // If the credential itself names its server, the server's address is what does not work.
    return { status: place.baseUrl === null ? null : 'FAILING', message: `${title} did not answer: ${error.message}` }
  }
}

function callOf(addresses: Addresses, { provider, baseUrl }: Place, secret: string) {
  const bearer = { authorization: `Bearer ${secret}` }
  if (provider === 'anthropic') return { url: `${addresses.anthropic}/v1/models?limit=1`, headers: { 'x-api-key': secret, 'anthropic-version': '2023-06-01' } }
  if (provider === 'stripe') return { url: `${addresses.stripe}/balance`, headers: bearer }
  return { url: `${isModelVendor(provider) ? addresses[provider] : baseUrl}/models`, headers: bearer }
}

function judged({ status, text }: OutboundAnswer, title: string): Trial {
  const said = saidIn(text)
  const message = `${title} answered ${status}${said ? `: ${said}` : '.'}`
  if (status >= 200 && status < 300) return { status: 'WORKING', message: `${title} took it.` }
  if (status === 429 || status >= 500) return { status: null, message }
  return { status: 'FAILING', message }
}

/** Returns the message of an error answer, in the formats of OpenAI, Anthropic, Google and Stripe. */
function saidIn(text: string): string | null {
  try {
    const { error, message } = (JSON.parse(text) ?? {}) as { readonly error?: { readonly message?: unknown } | string; readonly message?: unknown }
    const said = typeof error === 'object' ? error?.message : (error ?? message)
    return typeof said === 'string' ? said : null
  } catch {
    return null
  }
}

async function mailTrial({ dial }: Trying, { plain }: Place, password: string): Promise<Trial> {
  const { host = '', port = '', user = '' } = plain
  const server = { host: host.replace(/^\[|\]$/g, ''), port: Number(port), secure: port === '465', auth: { user, pass: password } }
  try {
    const line = await openLine(server, { connectMs: trialMs, talkMs: trialMs }, dial)
    line.quit()
    return { status: 'WORKING', message: 'The mail server accepted the sign-in.' }
  } catch (error) {
    if (!(error instanceof MailFault)) throw error
    return { status: 'FAILING', message: `${error.message[0]!.toUpperCase()}${error.message.slice(1)}.` }
  }
}
