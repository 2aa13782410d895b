import { aiGateway } from './ai/ai-gateway.ts'
import { anthropic } from './ai/anthropic.ts'
import { modelsDev } from './ai/models-dev.ts'
import { openai } from './ai/openai.ts'
import { studio } from './ai/studio.ts'
import type { Demo, Twin, Vendor } from './network.ts'
import { stripe } from './stripe/stripe.ts'
import { x } from './x/x.ts'
import { youtube } from './youtube/youtube.ts'

/** Every social network that is played here, by the name under which it stands: `<origin>/x`. */
export const twins = { x } as const satisfies Readonly<Record<string, Twin>>

/** Every other third party that is played here, by the name under which it stands: `<origin>/openai`. */
export const vendors: Readonly<Record<string, Vendor>> = { openai, anthropic, 'ai-gateway': aiGateway, 'models-dev': modelsDev, studio, stripe, youtube }

export type TwinName = keyof typeof twins

export const twinNames = Object.keys(twins) as readonly TwinName[]

/** The demo application and account of each network. */
export type Demos = Readonly<Record<TwinName, Demo>>

/** Makes something of each network that is played. */
export const ofTwins = <Value>(make: (name: TwinName) => Value): Readonly<Record<TwinName, Value>> =>
  Object.fromEntries(twinNames.map(name => [name, make(name)])) as Record<TwinName, Value>

/** A network's demo application as the platform is told of one: credentials, and where the network is. */
export function applicationAt<Name extends TwinName>(
  origin: string,
  name: Name,
  { clientId, clientSecret }: Pick<Demo, 'clientId' | 'clientSecret'>,
): { readonly clientId: string; readonly clientSecret: string } & Readonly<Record<keyof (typeof twins)[Name]['addresses'], string>> {
  const addresses = Object.entries(twins[name].addresses).map(([key, path]) => [key, `${origin}/${name}${path}`])
  return { clientId, clientSecret, ...Object.fromEntries(addresses) }
}
