import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Config } from '../../../config.ts'
import { lineOf } from '../../../start-error.ts'
import type { OverridingOptions } from '../../engine/native/overriding.ts'
import { decideOverrides, type OverrideRules, readOverrideRules } from '../../engine/operation/overrides/decision.ts'
import { countOverrides } from '../../metrics/overrides.ts'
import { type Followed, followFile } from './follow-file.ts'

/** Decides on labels of progressive overrides, for all graphs that a process serves one after the other. */
type Deciding = Pick<OverridingOptions, 'decide' | 'counted'>

interface Shared {
  readonly deciding: Deciding
  /** Follows the file until as many calls of `leave` were made. */
  enter(): void
  leave(): void
}

const known = new WeakMap<Registry, Shared>()

/**
 * Opens the rules of labels, and reads them again whenever their file changes. A file that cannot be read is logged,
 * and the former rules stay; until it can be read for the first time there are none.
 * @param stack stops following the file, once all graphs of the process are gone
 */
export function openOverrideRules(
  settings: Config['overrides'],
  { log, metrics }: { readonly log: Pick<Logger, 'info' | 'warn'>; readonly metrics: Registry },
  stack: AsyncDisposableStack,
): Deciding {
  const shared = known.get(metrics) ?? share(settings, log, metrics)
  known.set(metrics, shared)
  shared.enter()
  stack.defer(shared.leave)
  return shared.deciding
}

function share({ file, ...settings }: Config['overrides'], log: Pick<Logger, 'info' | 'warn'>, metrics: Registry): Shared {
  let rules: OverrideRules = new Map()
  let isUnreadable = false
  let users = 0
  let followed: Followed | null = null
  const refuse = (error: unknown) => {
    // A file that stays away is reported once.
    if (!isUnreadable) log.warn(`OVERRIDE_LABELS_FILE: ${file} cannot be read: ${lineOf(error)}; the former rules stay in use`)
    isUnreadable = true
  }
  const read = (text: string) => {
    isUnreadable = false
    try {
      rules = readOverrideRules(text)
    } catch (error) {
      return refuse(error)
    }
    log.info({ file }, 'rules of override labels read')
  }
  return {
    deciding: { decide: request => decideOverrides(request, rules, settings), counted: countOverrides(metrics) },
    enter() {
      users += 1
      if (users === 1 && file !== null) followed = followFile(file, null, read, { unreadable: refuse })
    },
    leave() {
      users -= 1
      if (users > 0) return
      followed?.stop()
      followed = null
    },
  }
}
