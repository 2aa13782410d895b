import { escaped, htmlPage, isolated } from '../../../http/html.ts'
import type { Platform } from '../../network/network.ts'
import { everyNetwork } from '../../network/networks.ts'
import type { AuthorizationRow } from '../../stores/authorization.ts'

/** Page after a successful connection. */
export const connectedPage = (platform: Platform, accountName: string, brandName: string): Response =>
  htmlPage(200, `${everyNetwork[platform].title} is connected`, [
    { name: accountName },
    ' can now be used by ',
    { name: brandName },
    '. You can close this page.',
  ])

/** Page after a failed connection, with what to do. */
export const nothingConnected = (status: number, sentence: string): Response => htmlPage(status, 'Nothing was connected', sentence)

export interface Confirmation {
  readonly platform: Platform
  readonly begun: AuthorizationRow
  readonly brandName: string
  /** Token that the form must send back. */
  readonly token: string
  /** Parameters of the network's redirect. */
  readonly parameters: URLSearchParams
}

/** Asks for confirmation before an account is connected: a person who did not begin the flow sees the brand's name. */
export function confirmationPage({ platform, begun, brandName, token, parameters }: Confirmation): Response {
  const { title } = everyNetwork[platform]
  const ofOrganization = begun.organizationName ? ['” of the organization “', { name: begun.organizationName }] : []
  const who = begun.begunBy ? [{ name: begun.begunBy }, ' began this. '] : []
  const hidden = [['token', token] as const, ...parameters].map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
  return htmlPage(
    200,
    `Connect your ${title} account?`,
    [
      ...who,
      'Your account would be used by the brand “',
      { name: brandName },
      ...ofOrganization,
      '”: its people could publish in your name. If you did not begin this yourself, close this page. Nothing is connected yet.',
    ],
    `<form method="post">${hidden.join('')}<button>Connect it to ${isolated(brandName)}</button></form>`,
  )
}

/** Page that sends a slow person back to the network, whose code is valid for half a minute only. */
export const onceMorePage = (platform: Platform, address: string): Response =>
  htmlPage(
    200,
    'One more step',
    `${everyNetwork[platform].title} waits only a short time for the answer, which is over. Agree there once more; the other steps are done.`,
    `<p><a href="${escaped(address)}" rel="noreferrer">Go on to ${escaped(everyNetwork[platform].title)}</a></p>`,
  )
