import { createContext, useContext } from 'react'
import type { Live } from './data/live.ts'
import type { Session } from './session/session.ts'

/** What every page stands on. */
export interface Shell {
  readonly session: Session
  readonly live: Live
}

/** Carries it to the pages. */
export const ShellContext = createContext<Shell | null>(null)

/** The session of this page's host. */
export const useSession = (): Session => useContext(ShellContext)!.session

/** The live connection of this tab. */
export const useLive = (): Live => useContext(ShellContext)!.live
