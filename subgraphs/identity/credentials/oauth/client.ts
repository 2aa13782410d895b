import { timingSafeEqual } from 'node:crypto'
import type { Transaction } from 'sequelize'
import { hashOfSecret } from '../../../../platform/cipher.ts'
import type { Context } from '../../context.ts'
import type { OAuthClientRow } from '../../stores/credentials/oauth-client.ts'
import { type Fault, fault } from './answers.ts'
import type { Parameters } from './parameters.ts'

/** Error for every invalid client; it does not reveal whether a client of that name exists. */
const stranger = (): Fault =>
  fault(
    'invalid_client',
    'The client is unknown or disabled, or did not show that it is the one: confidential clients send HTTP Basic with client id and secret, public ones client_id alone.',
    401,
    'Basic realm="supergraph"',
  )

/** Hash to compare with when there is no such client, so that it takes as long. */
const nobodys = hashOfSecret('nobody')

/**
 * Authenticates the calling client (RFC 6749 §2.3.1): a confidential one by HTTP Basic, a public one by its
 * `client_id`.
 * @param transaction within which the client cannot be disabled
 */
export async function clientOf(
  { oauthClients }: Pick<Context, 'oauthClients'>,
  headers: Headers,
  form: Parameters,
  transaction?: Transaction,
): Promise<OAuthClientRow | Fault> {
  const header = headers.get('authorization')
  const basic = header === null ? null : readBasic(header)
  if (header !== null && basic === null) return stranger()
  const named = form('client_id')
  if (form('client_secret') !== null || (basic && named !== null && named !== basic.id)) return stranger()
  const id = basic?.id ?? named
  const client = id === null ? null : await oauthClients.standing(id, transaction)
  const isIt = basic ? isSecret(basic.secret, client?.secretHash ?? nobodys) : client?.type === 'public'
  return client && isIt && (client.type === 'confidential') === (basic !== null) ? client : stranger()
}

const isSecret = (given: string, hash: string): boolean => timingSafeEqual(Buffer.from(hashOfSecret(given)), Buffer.from(hash))

/** Reads HTTP Basic with client id and secret, each form-encoded. */
function readBasic(header: string): { readonly id: string; readonly secret: string } | null {
  const encoded = /^basic +([\w+/-]+=*) *$/i.exec(header)?.[1]
  if (encoded === undefined) return null
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1) return null
  try {
    const [id, secret] = [text.slice(0, colon), text.slice(colon + 1)].map(part => decodeURIComponent(part.replaceAll('+', ' ')))
    return { id: id!, secret: secret! }
  } catch {
    return null
  }
}
