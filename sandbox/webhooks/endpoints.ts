import { randomBytes } from 'node:crypto'
import type { State } from '../state.ts'

/**
 * The agreements between twins and the platform on webhooks, by name. Stripe has an endpoint of each service that is paid through it; the
 * settlement and policy service takes callbacks (`settlement-callbacks`, which has no address here) and signs decisions.
 */
export const endpointNames = ['stripe-payments', 'stripe-launcher', 'settlement-callbacks', 'settlement-policy', 'notifications', 'apps'] as const

export type EndpointName = (typeof endpointNames)[number]

/** Where a twin sends its webhooks, and the secret that both sides know. */
export interface Endpoint {
  /** Null: nobody takes them. */
  readonly url: string | null
  /** `whsec_…`, 32 bytes in base64. */
  readonly secret: string
}

export type Endpoints = Readonly<Record<EndpointName, Endpoint>>

/** What is agreed otherwise. @default no address; a secret of the sandbox's own, which it keeps */
export type EndpointOptions = Readonly<Partial<Record<EndpointName, { readonly url?: string | undefined; readonly secret?: string | undefined }>>>

/** Reads the secrets that the state holds, and makes those that are missing. */
export function openEndpoints(state: State, options: EndpointOptions): Endpoints {
  const secrets = state.collection<string>('endpoint secrets', endpointNames.length)
  const secretOf = (name: EndpointName): string => {
    const known = options[name]?.secret ?? secrets.get(name)
    if (known !== undefined) return known
    const made = `whsec_${randomBytes(32).toString('base64')}`
    secrets.set(name, made)
    return made
  }
  return Object.fromEntries(endpointNames.map(name => [name, { url: options[name]?.url ?? null, secret: secretOf(name) }])) as Record<EndpointName, Endpoint>
}
