import type { Noun } from '../../wiring/define.ts'
import { setupPath } from '../setup/rules.ts'
import { createSetup, type Setup } from '../setup/setup.ts'
import type { At } from './services.ts'

/** Creates the set-up of a platform's first account. */
export const setupOf = ({ foundation: { clock }, settings: { foreignIssuer }, job }: At): Setup =>
  createSetup(() => job('platform'), clock, foreignIssuer?.issuer ?? null)

/** The set-up page. */
export const setup: Noun<At> = {
  handlers(at) {
    const { handle } = setupOf(at)
    return { [`GET ${setupPath}`]: handle, [`POST ${setupPath}`]: handle }
  },
}
