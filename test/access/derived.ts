import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  Kind,
  parse,
  print,
  type SelectionSetNode,
} from 'graphql'
import type { Type } from '../schema/graph.ts'
import type { FieldRow } from './row.ts'

/** `Type.field` of every field that needs a row: root fields, those that lead to another type, and those with a rule of their own. */
export function fieldsThatNeedRows(schema: GraphQLSchema, types: ReadonlyMap<string, Type>): readonly string[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  const ruled = new Set([...types.values()].flatMap(({ fields }) => fields.filter(({ rules }) => rules.length > 0).map(({ coordinate }) => coordinate)))
  return Object.values(schema.getTypeMap()).flatMap(type =>
    isObjectType(type) && !type.name.startsWith('__')
      ? Object.values(type.getFields())
          .filter(field => roots.includes(type) || isCompositeType(getNamedType(field.type)) || ruled.has(`${type.name}.${field.name}`))
          .map(field => `${type.name}.${field.name}`)
      : [],
  )
}

/**
 * The rows that nobody writes: of fields without a rule of their own, on a type that a written row reaches, which lead to what whoever
 * sees that type may see. They are asked below the written row and answer as it does, such as the entries of a page as the page.
 * A field that adds a rule, or leads to a type with another one, follows from nothing: it is written, or it is missing.
 * @param written rows by which types are reached, and those that have a row already
 */
export function derivedRows(schema: GraphQLSchema, types: ReadonlyMap<string, Type>, written: readonly FieldRow[]): readonly FieldRow[] {
  const reached = new Map<string, FieldRow>()
  const reach = (row: FieldRow) => {
    const to = fieldAt(schema, row.at)?.to
    if (to && !reached.has(to)) reached.set(to, row)
  }
  for (const row of written) if (!/^(?:Mutation|Subscription)\./.test(row.at)) reach(row)
  const missing = new Set(fieldsThatNeedRows(schema, types).filter(at => !written.some(row => row.at === at)))
  const derived: FieldRow[] = []
  for (let before = -1; before !== derived.length; ) {
    before = derived.length
    for (const at of missing) {
      const [owner, name] = at.split('.') as [string, string]
      const above = reached.get(owner)
      const field = fieldAt(schema, at)
      const hasRule = types.get(owner)?.fields.some(each => each.name === name && each.rules.length > 0)
      if (!above || !field || field.asks || hasRule || !follows(types.get(owner), types.get(field.to))) continue
      missing.delete(at)
      const row = { ...above, at, path: `${above.path}.${name}`, ask: (ids: Parameters<FieldRow['ask']>[0]) => below(above, name, field.leaf, ids) }
      derived.push(row)
      reach(row)
    }
  }
  return derived
}

/** Where a field leads, what may be selected there, and whether it takes an argument that must be given. */
function fieldAt(schema: GraphQLSchema, at: string): { readonly to: string; readonly leaf: string | null; readonly asks: boolean } | null {
  const [owner, name] = at.split('.') as [string, string]
  const type = schema.getType(owner)
  const field = isObjectType(type) ? type.getFields()[name] : undefined
  if (!field) return null
  const to = getNamedType(field.type)
  const leaf = isObjectType(to) ? Object.values(to.getFields()).find(each => isLeafType(getNamedType(each.type))) : undefined
  return { to: to.name, leaf: leaf?.name ?? (isCompositeType(to) ? '__typename' : null), asks: field.args.some(isRequiredArgument) }
}

/** Whether whoever gets past one type's rule gets past another's: it has none, the same, or ways in that include those of the first. */
function follows(from: Type | undefined, to: Type | undefined): boolean {
  const [has, wants] = [from?.rules ?? [], to?.rules ?? []]
  return wants.every(
    wanted =>
      has.includes(wanted) ||
      // Every rule refuses anonymous viewers.
      (wanted === '@authenticated' && has.length > 0) ||
      has.some(own => scopesOf(own).length > 0 && scopesOf(own).every(way => scopesOf(wanted).some(other => other.every(scope => way.includes(scope))))),
  )
}

/** The ways past a rule of scopes, each the scopes that it takes; none for another rule. */
const scopesOf = (rule: string): readonly (readonly string[])[] => JSON.parse(/^@requiresScopes\(scopes: (.+)\)$/.exec(rule)?.[1] ?? '[]')

/** The operation of a row, which selects a field below its path instead of what it selected. */
function below(row: FieldRow, name: string, leaf: string | null, ids: Parameters<FieldRow['ask']>[0]): string {
  const select = (field: string, within?: SelectionSetNode): SelectionSetNode => ({
    kind: Kind.SELECTION_SET,
    selections: [{ kind: Kind.FIELD, name: { kind: Kind.NAME, value: field }, ...(within && { selectionSet: within }) }],
  })
  const replaced = (set: SelectionSetNode, [first, ...rest]: readonly string[]): SelectionSetNode => ({
    ...set,
    selections: set.selections.map(each =>
      each.kind !== Kind.FIELD || each.name.value !== first
        ? each
        : ({ ...each, selectionSet: rest.length > 0 ? replaced(each.selectionSet!, rest) : select(name, leaf ? select(leaf) : undefined) } satisfies FieldNode),
    ),
  })
  const document = parse(row.ask(ids))
  const [operation] = document.definitions
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`${row.at} asks nothing`)
  const changed: DocumentNode = { ...document, definitions: [{ ...operation, selectionSet: replaced(operation.selectionSet, row.path.split('.')) }] }
  return print(changed)
}
