import {
  type ASTVisitor,
  BREAK,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  getNullableType,
  isListType,
  Kind,
  print,
  type SelectionSetNode,
  type ValidationContext,
  visit,
} from 'graphql'

/** Limits on `@defer` and `@stream` in one operation. */
export interface DeferLimits {
  /** Maximum number of both in an operation, fragments expanded. */
  readonly directives: number
  /** Maximum depth of `@defer` within `@defer`. */
  readonly depth: number
}

export const usualDeferLimits: DeferLimits = { directives: 50, depth: 8 }

const known = new WeakMap<DocumentNode, boolean>()

/** Whether a document uses `@defer` or `@stream`; it is searched once. */
export function usesIncremental(document: DocumentNode): boolean {
  let found = known.get(document)
  if (found === undefined) {
    found = false
    visit(document, {
      Directive(node) {
        if (!isIncremental(node)) return undefined
        found = true
        return BREAK
      },
    })
    known.set(document, found)
  }
  return found
}

/** Validation rules for documents that use `@defer` or `@stream`. */
export const deferRules = (limits: DeferLimits) => [labelsRule, rootRule, streamRule, sameStreamsRule, limitsRule(limits)]

/** A label is a literal text, and stands once in a document as it is written. */
function labelsRule(context: ValidationContext): ASTVisitor {
  const labels = new Map<string, DirectiveNode>()
  return {
    Directive(node) {
      if (!isIncremental(node)) return
      const value = argumentOf(node, 'label')
      if (!value || value.kind === Kind.NULL) return
      if (value.kind !== Kind.STRING)
        return context.reportError(new GraphQLError(`The label of @${node.name.value} is no text: write it out, variables are not allowed.`, { nodes: node }))
      const former = labels.get(value.value)
      if (former)
        context.reportError(
          new GraphQLError(`The label "${value.value}" of @defer is used twice: give each @defer a label of its own.`, { nodes: [former, node] }),
        )
      labels.set(value.value, node)
    },
  }
}

/** The fields of a mutation run one after the other, and a subscription's event is its only field: nothing there can be deferred. */
function rootRule(context: ValidationContext): ASTVisitor {
  const schema = context.getSchema()
  return {
    Directive(node) {
      const parent = context.getParentType()
      if (!isIncremental(node) || !parent) return
      const operation = parent === schema.getMutationType() ? 'mutation' : parent === schema.getSubscriptionType() ? 'subscription' : null
      const condition = argumentOf(node, 'if')
      if (operation === null || (condition?.kind === Kind.BOOLEAN && !condition.value)) return
      context.reportError(
        new GraphQLError(`@${node.name.value} is not allowed at the root of a ${operation}: use it below one of the fields there.`, { nodes: node }),
      )
    },
  }
}

/** Only lists are streamed, and no negative number of elements comes first. */
function streamRule(context: ValidationContext): ASTVisitor {
  return {
    Directive(node) {
      if (!isStream(node)) return
      const type = context.getType()
      const initialCount = argumentOf(node, 'initialCount')
      if (type && !isListType(getNullableType(type)))
        context.reportError(new GraphQLError('@stream is for fields that answer a list: remove it here.', { nodes: node }))
      if (initialCount?.kind === Kind.INT && Number(initialCount.value) < 0)
        context.reportError(new GraphQLError('The initialCount of @stream is negative: write 0 or more.', { nodes: node }))
    },
  }
}

/** Selections of one field agree on how its list is streamed. */
function sameStreamsRule(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      compare([node.selectionSet])
    },
  }

  /** @param sets selections of one object */
  function compare(sets: readonly SelectionSetNode[]): void {
    const fields = new Map<string, FieldNode[]>()
    const spread = new Set<string>()
    for (const set of sets) collect(set, fields, spread)
    for (const [key, nodes] of fields) {
      const written = new Set(nodes.map(streamOf))
      if (written.size > 1)
        context.reportError(new GraphQLError(`The selections of "${key}" have different @stream arguments: write the same ones, or use an alias.`, { nodes }))
      compare(nodes.flatMap(({ selectionSet }) => selectionSet ?? []))
    }
  }

  function collect({ selections }: SelectionSetNode, fields: Map<string, FieldNode[]>, spread: Set<string>): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value
        if (!fields.get(key)?.push(selection)) fields.set(key, [selection])
      } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet, fields, spread)
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value)
        const fragment = context.getFragment(selection.name.value)
        if (fragment) collect(fragment.selectionSet, fields, spread)
      }
    }
  }
}

/** The `@stream` of a field as text, without its label, whose arguments stand in one order. */
function streamOf({ directives = [] }: FieldNode): string {
  const directive = directives.find(isStream)
  const given = directive?.arguments?.filter(({ name }) => name.value !== 'label') ?? []
  return directive
    ? `stream ${given
        .map(argument => print(argument))
        .sort()
        .join()}`
    : ''
}

const limitsRule =
  ({ directives, depth }: DeferLimits) =>
  (context: ValidationContext): ASTVisitor => {
    const measured = new Map<FragmentDefinitionNode, Size>()
    return {
      OperationDefinition(node) {
        const size = measure(node.selectionSet)
        const report = (sentence: string) => context.reportError(new GraphQLError(sentence, { nodes: node }))
        if (size.count > directives)
          report(`The operation has more than ${directives} @defer and @stream, fragments expanded (MAX_INCREMENTAL_DIRECTIVES): defer larger fragments.`)
        else if (size.depth > depth) report(`The operation nests @defer deeper than ${depth} levels (MAX_DEFER_DEPTH): nest less.`)
      },
    }

    function measure({ selections }: SelectionSetNode): Size {
      let [count, depth] = [0, 0]
      for (const selection of selections) {
        const inner =
          selection.kind === Kind.FRAGMENT_SPREAD ? measureFragment(selection.name.value) : selection.selectionSet ? measure(selection.selectionSet) : none
        // Beyond the limits, more makes no difference; without a bound, fragments in fragments would overflow.
        count = Math.min(count + inner.count + (selection.directives?.some(isIncremental) ? 1 : 0), 1_000_000)
        depth = Math.max(depth, inner.depth + (selection.directives?.some(isDefer) ? 1 : 0))
      }
      return { count, depth }
    }

    function measureFragment(name: string): Size {
      const fragment = context.getFragment(name)
      if (!fragment) return none
      const size = measured.get(fragment)
      if (size) return size
      // Another rule refuses a fragment that contains itself.
      measured.set(fragment, none)
      const made = measure(fragment.selectionSet)
      measured.set(fragment, made)
      return made
    }
  }

interface Size {
  readonly count: number
  readonly depth: number
}

const none: Size = { count: 0, depth: 0 }

const isDefer = (directive: DirectiveNode): boolean => directive.name.value === 'defer'

const isStream = (directive: DirectiveNode): boolean => directive.name.value === 'stream'

const isIncremental = (directive: DirectiveNode): boolean => isDefer(directive) || isStream(directive)

const argumentOf = (directive: DirectiveNode, name: string) => directive.arguments?.find(argument => argument.name.value === name)?.value
