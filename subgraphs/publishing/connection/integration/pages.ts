import { escaped, htmlPage, isolated } from '../../../http/html.ts'
import type { Platform } from '../../network/network.ts'
import { everyNetwork } from '../../network/networks.ts'
import type { AuthorizationRow } from '../../stores/authorization.ts'

/** The end of a connection that was made. */
export const connectedPage = (platform: Platform, accountName: string, brandName: string): Response =>
  htmlPage(200, `${everyNetwork[platform].title} is connected`, [
    { name: accountName },
    ' can now be used by ',
    { name: brandName },
    '. You can close this page.',
  ])

/** The end of one that was not, and what to do. */
export const nothingConnected = (status: number, sentence: string): Response => htmlPage(status, 'Nothing was connected', sentence)

export interface Confirmation {
  readonly platform: Platform
  readonly begun: AuthorizationRow
  readonly brandName: string
  /** What the form has to bring back. */
  readonly token: string
  /** What the network sent along. */
  readonly parameters: URLSearchParams
}

/** Asks for confirmation before an account is connected to a brand: a person who did not begin the flow reads whose brand it is. */
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

/** Sends a person who took their time back to the network, which gives its answer for half a minute only. */
export const onceMorePage = (platform: Platform, address: string): Response =>
  htmlPage(
    200,
    'One more step',
    `${everyNetwork[platform].title} waits for its answer a short while only, and that is over. Agree there once more: nothing else will be asked.`,
    `<p><a href="${escaped(address)}" rel="noreferrer">Go on to ${escaped(everyNetwork[platform].title)}</a></p>`,
  )
