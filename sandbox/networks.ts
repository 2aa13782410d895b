import { aiGateway } from './ai/ai-gateway.ts'
import { anthropic } from './ai/anthropic.ts'
import { modelsDev } from './ai/models-dev.ts'
import { openai } from './ai/openai.ts'
import { studio } from './ai/studio.ts'
import { apps } from './neighbours/apps.ts'
import { challenge } from './neighbours/challenge.ts'
import { consent } from './neighbours/consent.ts'
import { developers } from './neighbours/developers.ts'
import { graphos } from './neighbours/graphos.ts'
import { hive } from './neighbours/hive.ts'
import { hooks } from './neighbours/hooks.ts'
import { mcp } from './neighbours/mcp.ts'
import { notifications } from './neighbours/notifications.ts'
import { push } from './neighbours/push.ts'
import { settlement } from './neighbours/settlement.ts'
import { site } from './neighbours/site.ts'
import type { Demo, Twin, Vendor } from './network.ts'
import { facebook } from './social/facebook/facebook.ts'
import { instagram } from './social/instagram/instagram.ts'
import { linkedin } from './social/linkedin/linkedin.ts'
import { threads } from './social/threads/threads.ts'
import { tiktok } from './social/tiktok/tiktok.ts'
import { xLegacy } from './social/x/legacy.ts'
import { x } from './social/x/x.ts'
import { youtube } from './social/youtube/youtube.ts'
import { stripe } from './stripe/stripe.ts'

/** Stand-ins for social networks, by the name that is their path prefix: `<origin>/x`. */
export const twins = { x, linkedin, tiktok, instagram, threads, facebook, youtube } as const satisfies Readonly<Record<string, Twin>>

/** Stand-ins for all other third parties, by the name that is their path prefix: `<origin>/openai`. */
export const vendors: Readonly<Record<string, Vendor>> = {
  openai,
  anthropic,
  'ai-gateway': aiGateway,
  'models-dev': modelsDev,
  studio,
  stripe,
  hooks,
  apps,
  challenge,
  consent,
  graphos,
  hive,
  developers,
  mcp,
  notifications,
  push,
  settlement,
  site,
  'x-legacy': xLegacy,
}

export type TwinName = keyof typeof twins

export const twinNames = Object.keys(twins) as readonly TwinName[]

/** Networks of our own that share the stand-in of another network, with an application of their own there. */
export const alike = { 'linkedin-page': 'linkedin' } as const satisfies Readonly<Record<string, TwinName>>

/** Name of a network of our own for which the sandbox has a stand-in. */
export type PlayedName = TwinName | keyof typeof alike

export const playedNames = [...twinNames, ...Object.keys(alike)] as readonly PlayedName[]

/** Returns the stand-in that serves a network of our own. */
export const twinOf = (name: PlayedName): TwinName => (alike as Readonly<Record<string, TwinName>>)[name] ?? (name as TwinName)

/** The demo application and account of each network. */
export type Demos = Readonly<Record<PlayedName, Demo>>

/** Builds a record with one value for each network of the sandbox. */
export const ofPlayed = <Value>(make: (name: PlayedName) => Value): Readonly<Record<PlayedName, Value>> =>
  Object.fromEntries(playedNames.map(name => [name, make(name)])) as Record<PlayedName, Value>

/**
 * Returns a network's demo application in the form of platform settings: credentials, addresses, and further settings
 * of its adapter.
 */
export function applicationAt<Name extends PlayedName>(
  origin: string,
  name: Name,
  { clientId, clientSecret }: Pick<Demo, 'clientId' | 'clientSecret'>,
): { readonly clientId: string; readonly clientSecret: string } & ToldOf<Name> {
  const twin = twinOf(name)
  const { addresses, settings }: Twin = twins[twin]
  const told = Object.entries(addresses).map(([key, path]) => [key, `${origin}/${twin}${path}`])
  return { clientId, clientSecret, ...Object.fromEntries(told), ...settings }
}

type TwinBehind<Name> = Name extends TwinName ? Name : Name extends keyof typeof alike ? (typeof alike)[Name] : never
type KeysOf<Told> = Told extends object ? keyof Told : never
type ToldOf<Name> = Readonly<
  Record<
    | KeysOf<(typeof twins)[TwinBehind<Name>]['addresses']>
    | ((typeof twins)[TwinBehind<Name>] extends { readonly settings: infer Settings } ? KeysOf<Settings> : never),
    string
  >
>
