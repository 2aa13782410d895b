import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
  visit,
} from 'graphql'

/**
 * One deferred fragment, or one streamed list, at one place of an operation's answer. At a place within a list it stands
 * for a part of each element.
 */
export interface Deferral {
  /** Position in the order in which deferrals were found: of nested ones the outer has the smaller number. */
  readonly id: number
  readonly label: string | null
  /** Response keys from the root to the object that the fragment completes, or to the list. */
  readonly path: readonly string[]
  /** The deferred fragment in which this one is nested; null for one that belongs to the first payload. */
  readonly parent: Deferral | null
  /** Number of elements that come with what is around a streamed list, as written; null for a fragment. */
  readonly initialCount: ValueNode | 'none' | null
}

type Fragment = FragmentSpreadNode | InlineFragmentNode

/** Finds the deferrals of one operation: the same object for the same fragment at the same place. */
export interface Deferrals {
  /** @returns the deferral that a fragment begins; `within` itself for a fragment that is not deferred */
  begun(fragment: Fragment, path: readonly string[], within: Deferral | null): Deferral | null
  /** Returns the deferral of the other elements of a list, where the list at a path is streamed. */
  streamAt(path: readonly string[]): Deferral | null
  /** All that were found so far. */
  readonly all: readonly Deferral[]
}

/** What is written of one field of the answer. */
interface Occurrences {
  readonly path: readonly string[]
  readonly by: Set<Deferral | null>
  /** The `@stream` of each selection of the field; undefined for one without. */
  readonly streams: (DirectiveNode | undefined)[]
}

/** The operation whose deferrals are found, with its fragments. */
interface Deferring {
  readonly definition: OperationDefinitionNode
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
}

/** Finds the streamed lists of an operation; deferred fragments are found when they are asked for. */
export function createDeferrals({ definition, fragments }: Deferring): Deferrals {
  const streams = new Map<string, Deferral>()
  const known = new Map<Fragment, Map<string, Deferral>>()
  const all: Deferral[] = []
  const deferrals: Deferrals = {
    all,
    streamAt: path => streams.get(path.join(' ')) ?? null,
    begun(fragment, path, parent) {
      const directive = fragment.directives?.find(isDefer)
      if (!directive) return parent
      const at = `${parent?.id ?? ''} ${path.join(' ')}`
      const ofFragment = known.get(fragment) ?? new Map<string, Deferral>()
      known.set(fragment, ofFragment)
      let deferral = ofFragment.get(at)
      if (!deferral) {
        deferral = { id: all.length, label: labelOf(directive), path, parent, initialCount: null }
        all.push(deferral)
        ofFragment.set(at, deferral)
      }
      return deferral
    },
  }
  const fields = new Map<string, Occurrences>()
  read(definition.selectionSet, [], null, new Set())
  // A list within a streamed one, or one that several fragments select, comes whole: its elements have one payload each.
  for (const { path, by, streams: written } of fields.values()) {
    const [directive] = written
    const [parent = null] = by
    if (!directive || by.size > 1 || written.includes(undefined) || path.some((_, length) => streams.has(path.slice(0, length).join(' ')))) continue
    const initialCount = argumentOf(directive, 'initialCount') ?? 'none'
    const stream: Deferral = { id: all.length, label: labelOf(directive), path, parent, initialCount }
    all.push(stream)
    streams.set(path.join(' '), stream)
  }
  return deferrals

  function read(set: SelectionSetNode, path: readonly string[], by: Deferral | null, spread: Set<string>): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        readField(selection, [...path, (selection.alias ?? selection.name).value], by)
        continue
      }
      const within = deferrals.begun(selection, path, by)
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        read(selection.selectionSet, path, within, spread)
        continue
      }
      const once = `${selection.name.value} ${within?.id ?? ''}`
      const fragment = fragments.get(selection.name.value)
      if (!fragment || spread.has(once)) continue
      spread.add(once)
      read(fragment.selectionSet, path, within, spread)
    }
  }

  function readField({ directives, selectionSet }: FieldNode, path: readonly string[], by: Deferral | null): void {
    const key = path.join(' ')
    const field = fields.get(key) ?? { path, by: new Set(), streams: [] }
    fields.set(key, field)
    field.by.add(by)
    field.streams.push(directives?.find(isStream))
    if (selectionSet) read(selectionSet, path, by, new Set())
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

/** Returns the names of the variables that decide on `@defer` and `@stream`, sorted; null when the document uses neither. */
export function deferVariables(document: DocumentNode): readonly string[] | null {
  const names = new Set<string>()
  let found = false
  visit(document, {
    Directive(node) {
      if (!isIncremental(node)) return
      found = true
      const value = conditionOf(node)
      if (value?.kind === Kind.VARIABLE) names.add(value.name.value)
    },
  })
  return found ? [...names].sort() : null
}

const isDefer = (directive: DirectiveNode): boolean => directive.name.value === 'defer'

const isStream = (directive: DirectiveNode): boolean => directive.name.value === 'stream'

/** Whether a directive is `@defer` or `@stream`. */
export const isIncremental = (directive: DirectiveNode): boolean => isDefer(directive) || isStream(directive)

/** Whether a `@defer` or `@stream` counts. @param isTrue returns the value of a boolean variable */
export function isActive(directive: DirectiveNode, isTrue: (variable: string) => boolean): boolean {
  const value = conditionOf(directive)
  return value?.kind === Kind.VARIABLE ? isTrue(value.name.value) : value?.kind !== Kind.BOOLEAN || value.value
}

/** Returns a directive that counts in the form without its condition. */
export const unconditional = (directive: DirectiveNode): DirectiveNode => ({
  ...directive,
  arguments: directive.arguments?.filter(({ name }) => name.value !== 'if') ?? [],
})

const argumentOf = (directive: DirectiveNode, argument: string) => directive.arguments?.find(({ name }) => name.value === argument)?.value

const conditionOf = (directive: DirectiveNode) => argumentOf(directive, 'if')

function labelOf(directive: DirectiveNode): string | null {
  const value = argumentOf(directive, 'label')
  return value?.kind === Kind.STRING ? value.value : null
}

/** Returns the number of elements that come first of a streamed list; undefined for one that is negative. */
export function firstOf({ initialCount }: Deferral, variables: Readonly<Record<string, unknown>>): number | undefined {
  if (initialCount === 'none' || initialCount === null || initialCount.kind === Kind.NULL) return 0
  const count =
    initialCount.kind === Kind.VARIABLE ? (variables[initialCount.name.value] ?? 0) : initialCount.kind === Kind.INT ? Number(initialCount.value) : 0
  return Number(count) < 0 ? undefined : Number(count)
}
