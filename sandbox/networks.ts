import type { Demo, Twin } from './network.ts'
import { x } from './x/x.ts'

/** Every network that is played here, by the name under which it stands: `<origin>/x`. */
export const twins = { x } as const satisfies Readonly<Record<string, Twin>>

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
