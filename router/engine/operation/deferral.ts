import { type DirectiveNode, type DocumentNode, type FragmentSpreadNode, type InlineFragmentNode, Kind, visit } from 'graphql'

/**
 * One deferred fragment at one place of an operation's answer. At a place within a list it stands for a part of each
 * element.
 */
export interface Deferral {
  /** Position in the order in which deferrals were found: of nested ones the outer has the smaller number. */
  readonly id: number
  readonly label: string | null
  /** Response keys from the root to the object that the fragment completes. */
  readonly path: readonly string[]
  /** The deferred fragment in which this one is nested; null for one that belongs to the first payload. */
  readonly parent: Deferral | null
}

type Fragment = FragmentSpreadNode | InlineFragmentNode

/** Finds the deferrals of one operation: the same object for the same fragment at the same place. */
export interface Deferrals {
  /** @returns the deferral that a fragment begins; `within` itself for a fragment that is not deferred */
  begun(fragment: Fragment, path: readonly string[], within: Deferral | null): Deferral | null
  /** All that were found so far. */
  readonly all: readonly Deferral[]
}

export function createDeferrals(): Deferrals {
  const known = new Map<Fragment, Map<string, Deferral>>()
  const all: Deferral[] = []
  return {
    all,
    begun(fragment, path, parent) {
      const directive = fragment.directives?.find(isDefer)
      if (!directive) return parent
      const at = `${parent?.id ?? ''} ${path.join(' ')}`
      const ofFragment = known.get(fragment) ?? new Map<string, Deferral>()
      known.set(fragment, ofFragment)
      let deferral = ofFragment.get(at)
      if (!deferral) {
        deferral = { id: all.length, label: labelOf(directive), path, parent }
        all.push(deferral)
        ofFragment.set(at, deferral)
      }
      return deferral
    },
  }
}

/** Whether a deferral is another one or is nested in it. */
export function isWithin(inner: Deferral, outer: Deferral): boolean {
  for (let at: Deferral | null = inner; at; at = at.parent) if (at === outer) return true
  return false
}

/**
 * Reduces the deferrals that need a value to those that bring it: none, as null, for a value of the first payload, and
 * no deferral that is nested in another one of them.
 */
export function bringers(needing: Iterable<Deferral | null>): readonly Deferral[] | null {
  const all = [...new Set(needing)]
  if (all.includes(null)) return null
  return (all as Deferral[]).filter(each => !all.some(other => other !== each && isWithin(each, other!))).sort((one, other) => one.id - other.id)
}

/** Returns the names of the variables that decide on `@defer`, sorted; null when the document does not use it. */
export function deferVariables(document: DocumentNode): readonly string[] | null {
  const names = new Set<string>()
  let found = false
  visit(document, {
    Directive(node) {
      if (!isDefer(node)) return
      found = true
      const value = conditionOf(node)
      if (value?.kind === Kind.VARIABLE) names.add(value.name.value)
    },
  })
  return found ? [...names].sort() : null
}

export const isDefer = (directive: DirectiveNode): boolean => directive.name.value === 'defer'

/** Whether a `@defer` counts. @param isTrue returns the value of a boolean variable */
export function isActive(directive: DirectiveNode, isTrue: (variable: string) => boolean): boolean {
  const value = conditionOf(directive)
  return value?.kind === Kind.VARIABLE ? isTrue(value.name.value) : value?.kind !== Kind.BOOLEAN || value.value
}

/** Returns a `@defer` that counts in the form without its condition. */
export const unconditional = (directive: DirectiveNode): DirectiveNode => ({
  ...directive,
  arguments: directive.arguments?.filter(({ name }) => name.value === 'label') ?? [],
})

const conditionOf = (directive: DirectiveNode) => directive.arguments?.find(({ name }) => name.value === 'if')?.value

function labelOf(directive: DirectiveNode): string | null {
  const value = directive.arguments?.find(({ name }) => name.value === 'label')?.value
  return value?.kind === Kind.STRING ? value.value : null
}
