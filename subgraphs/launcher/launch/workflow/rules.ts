import { DomainError } from '../../../../platform/errors.ts'
import { requireName } from '../../../../platform/ids.ts'
import { isPerson, type Viewer } from '../../../viewer.ts'
import { requireMayChange } from '../../action-item/rules.ts'
import { slugPattern } from '../../stores/catalog-entry.ts'
import type { LauncherWorkflowRow, WorkflowStep } from '../../stores/workflow.ts'
import { readReturnTo } from '../rules.ts'

/** Maximum steps of a workflow, workflows of one owner, and characters. */
export const limits = { steps: 20, workflows: 100, name: 80, title: 120, url: 2_000 } as const

/** A step as it is given. */
export interface GivenStep {
  readonly kind: WorkflowStep['kind']
  readonly title: string
  readonly app?: string | null | undefined
  readonly returnTo?: string | null | undefined
  readonly actionKind?: string | null | undefined
  readonly url?: string | null | undefined
}

const mistake = (field: string, message: string) => new DomainError('BAD_USER_INPUT', message, { field })

/** What each kind of step must have, and may have. */
const parts = {
  LAUNCH: { must: ['app'], may: ['app', 'returnTo'] },
  ACTION: { must: ['actionKind'], may: ['app', 'actionKind'] },
  LINK: { must: ['url'], may: ['url'] },
} as const satisfies Readonly<Record<WorkflowStep['kind'], { readonly must: readonly (keyof GivenStep)[]; readonly may: readonly (keyof GivenStep)[] }>>

const optional = ['app', 'returnTo', 'actionKind', 'url'] as const

function readStep(given: GivenStep, isDevelopment: boolean): WorkflowStep {
  const { kind } = given
  const [must, may]: readonly (readonly string[])[] = [parts[kind].must, parts[kind].may]
  const isGiven = (name: (typeof optional)[number]) => given[name] !== null && given[name] !== undefined
  const missing = must!.find(name => !isGiven(name as 'app'))
  if (missing !== undefined) throw mistake(`steps.${missing}`, `A step of kind ${kind} needs ${missing}.`)
  const strange = optional.find(name => isGiven(name) && !may!.includes(name))
  if (strange !== undefined) throw mistake(`steps.${strange}`, `A step of kind ${kind} has no ${strange}: leave it out.`)
  const { app = null, actionKind = null, url = null } = given
  if (app !== null && !slugPattern.test(app)) throw mistake('steps.app', "A step names an app by something that is no slug: take the app's `app`.")
  if (actionKind !== null && !/^[A-Z][A-Z0-9_]{0,79}$/.test(actionKind))
    throw mistake('steps.actionKind', 'actionKind is no kind of an action item: it is written like APPROVAL_PENDING.')
  if (url !== null && !isLink(url, isDevelopment)) throw mistake('steps.url', `url is no https address of at most ${limits.url} characters.`)
  const returnTo = readReturnTo(given.returnTo, 'steps.returnTo')
  return { kind, title: requireName(given.title, 'steps.title', limits.title), app, returnTo, actionKind, url }
}

function isLink(url: string, isDevelopment: boolean): boolean {
  const { protocol, hostname } = URL.parse(url) ?? {}
  const isLocal = hostname === 'localhost' || hostname === '127.0.0.1' || hostname?.endsWith('.localhost')
  return url.length <= limits.url && (protocol === 'https:' || (isDevelopment && protocol === 'http:' && isLocal === true))
}

/** @throws BAD_USER_INPUT with the field that is wrong */
export function readSteps(given: readonly GivenStep[], isDevelopment: boolean): readonly WorkflowStep[] {
  if (given.length < 1 || given.length > limits.steps) throw mistake('steps', `steps has ${given.length} entries: it takes 1 to ${limits.steps}.`)
  return given.map(step => readStep(step, isDevelopment))
}

type Whose = Pick<LauncherWorkflowRow, 'userId' | 'shared'>

/**
 * Checks that a viewer may have a workflow so: people their own, with the scope to write also shared ones; keys and services shared ones.
 * @param before the workflow so far; null for a new one
 * @throws FORBIDDEN; CONFLICT, reason CONTEXT; BAD_USER_INPUT
 */
export function requireMayWrite(viewer: Viewer, before: Whose | null, after: Whose): void {
  requireMayChange(viewer, 'launcher:workflows.write')
  if (after.shared && viewer.context === 'personal')
    throw new DomainError('CONFLICT', 'Workflows are shared in an organization: switch to one first.', { reason: 'CONTEXT' })
  if (!isPerson(viewer) && !after.shared)
    throw before
      ? new DomainError('FORBIDDEN', 'A workflow that nobody shares belongs to a person: leave it shared.')
      : mistake('shared', 'Keys and services make shared workflows alone: set shared.')
  if ((before?.shared || after.shared) && !viewer.scopes.includes('launcher:workflows.write'))
    throw new DomainError('FORBIDDEN', 'Shared workflows need launcher:workflows.write: ask an owner or admin of the organization.')
  if (before?.shared && !after.shared && before.userId !== viewer.userId)
    throw new DomainError('FORBIDDEN', 'Only its maker makes a shared workflow private again: delete it instead.')
}

/** @throws CONFLICT, reason LIMIT, for one workflow too many */
export function requireRoom(count: number): void {
  if (count < limits.workflows) return
  throw new DomainError('CONFLICT', `There are ${limits.workflows} workflows already: delete one first.`, { reason: 'LIMIT' })
}

/** Returns a step by its position, from 1, and the position of the next one. @throws BAD_USER_INPUT for a position without a step */
export function stepAt(steps: readonly WorkflowStep[], position: number): { readonly step: WorkflowStep; readonly next: number | null } {
  const step = steps[position - 1]
  if (!step) throw mistake('position', `The workflow has no step ${position}: it has ${steps.length}.`)
  return { step, next: position < steps.length ? position + 1 : null }
}
