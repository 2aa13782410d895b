import {
  type ASTVisitor,
  BREAK,
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
  visit,
} from 'graphql'

/** Limits on `@defer` in one operation. */
export interface DeferLimits {
  /** Maximum number of `@defer` in an operation, fragments expanded. */
  readonly directives: number
  /** Maximum depth of `@defer` within `@defer`. */
  readonly depth: number
}

export const usualDeferLimits: DeferLimits = { directives: 50, depth: 8 }

const known = new WeakMap<DocumentNode, boolean>()

/** Whether a document uses `@defer`; it is searched once. */
export function usesDefer(document: DocumentNode): boolean {
  let found = known.get(document)
  if (found === undefined) {
    found = false
    visit(document, {
      Directive(node) {
        if (!isDefer(node)) return undefined
        found = true
        return BREAK
      },
    })
    known.set(document, found)
  }
  return found
}

/** Validation rules for documents that use `@defer`. */
export const deferRules = (limits: DeferLimits) => [labelsRule, rootRule, limitsRule(limits)]

/** A label is a literal text, and stands once in a document as it is written. */
function labelsRule(context: ValidationContext): ASTVisitor {
  const labels = new Map<string, DirectiveNode>()
  return {
    Directive(node) {
      if (!isDefer(node)) return
      const value = argumentOf(node, 'label')
      if (!value || value.kind === Kind.NULL) return
      if (value.kind !== Kind.STRING)
        return context.reportError(new GraphQLError('The label of @defer is no text: write it out, variables are not allowed.', { nodes: node }))
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
      if (!isDefer(node) || !parent) return
      const operation = parent === schema.getMutationType() ? 'mutation' : parent === schema.getSubscriptionType() ? 'subscription' : null
      const condition = argumentOf(node, 'if')
      if (operation === null || (condition?.kind === Kind.BOOLEAN && !condition.value)) return
      context.reportError(new GraphQLError(`@defer is not allowed at the root of a ${operation}: defer a fragment below one of its fields.`, { nodes: node }))
    },
  }
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
          report(`The operation has more than ${directives} @defer, fragments expanded (MAX_INCREMENTAL_DIRECTIVES): defer larger fragments.`)
        else if (size.depth > depth) report(`The operation nests @defer deeper than ${depth} levels (MAX_DEFER_DEPTH): nest less.`)
      },
    }

    function measure({ selections }: SelectionSetNode): Size {
      let [count, depth] = [0, 0]
      for (const selection of selections) {
        const inner =
          selection.kind === Kind.FRAGMENT_SPREAD ? measureFragment(selection.name.value) : selection.selectionSet ? measure(selection.selectionSet) : none
        const own = selection.directives?.some(isDefer) ? 1 : 0
        // Beyond the limits, more makes no difference; without a bound, fragments in fragments would overflow.
        count = Math.min(count + inner.count + own, 1_000_000)
        depth = Math.max(depth, inner.depth + own)
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

const argumentOf = (directive: DirectiveNode, name: string) => directive.arguments?.find(argument => argument.name.value === name)?.value
