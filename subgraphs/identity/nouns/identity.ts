import type { Authority } from '../../authority.ts'
import type { Registration, Subgraph } from '../../subgraph.ts'
import type { Viewer } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { RegistrationOutcome } from '../service-entry/register.ts'
import type { Addresses } from '../service-entry/rules.ts'
import type { Provisioned } from '../setup/provision.ts'
import type { World } from '../setup/world.ts'

/** Identity: people, their organizations, and the rights of their credentials. */
export interface Identity extends Subgraph<Context> {
  readonly authority: Authority
  http(request: Request, viewer?: Viewer): Promise<Response>
  /**
   * Synchronizes the registry of services, this one included only if listed.
   * @param addresses absolute addresses by slug, then by audience
   */
  registerServices(registrations: readonly Registration[], addresses: Readonly<Record<string, Addresses>>): Promise<RegistrationOutcome>
  /** Creates missing people, organizations and keys, for set-up and demo data. */
  provision(world: World): Promise<Provisioned>
  /**
   * Creates a link to the set-up page that replaces the former one.
   * @param keep receives path and query before the link is valid; when it throws, the former link stays
   * @returns path and query; null once somebody has signed in
   */
  openSetup(keep?: (link: string) => void): Promise<string | null>
  /**
   * Creates a new signing key.
   * @param options.distrust whether tokens of earlier keys are rejected at once, as after a leak @default false
   */
  rotateSigningKeys(options?: { distrust?: boolean }): Promise<void>
}
