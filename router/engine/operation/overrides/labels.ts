import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  isObjectType,
  Kind,
  parse,
  print,
  TypeInfo,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql'

/** The labels of a supergraph's progressive overrides (`@override(from:, label:)`). */
export interface OverrideLabels {
  /** Every label, sorted. */
  readonly all: readonly string[]
  /** Returns the labels on which the plans of a document's operations may depend, sorted. */
  touchedBy(document: DocumentNode): readonly string[]
}

/** The labels of one request that are active, among those that its operation touches. */
export interface ActiveOverrides {
  /** Sorted, because plans and streams are kept by it. */
  readonly active: readonly string[]
  /** Every label of the graph, and whether it is active; undefined where the request does not ask to see it. */
  readonly shown?: Readonly<Record<string, boolean>> | undefined
}

/** Arguments of the join directives that hold field sets, or objects with one. */
const withFieldSets: ReadonlySet<string> = new Set(['key', 'requires', 'provides', 'contextArguments'])

/** Reads the labels of a supergraph document; null where no field has one. @param schema of its clients */
export function readOverrideLabels({ definitions }: DocumentNode, schema: GraphQLSchema): OverrideLabels | null {
  /** Labels by `Type.field`, and by the names of fields alone. */
  const [byCoordinate, byField] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()]
  const inFieldSets = new Set<string>()
  for (const definition of definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue
    for (const name of namesInFieldSets(definition.directives)) inFieldSets.add(name)
    for (const { name, directives } of definition.fields ?? []) {
      for (const each of namesInFieldSets(directives)) inFieldSets.add(each)
      const labels = labelsOf(directives)
      if (labels.length === 0) continue
      byCoordinate.set(`${definition.name.value}.${name.value}`, new Set(labels))
      byField.set(name.value, new Set([...(byField.get(name.value) ?? []), ...labels]))
    }
  }
  if (byField.size === 0) return null
  const all = sortedLabels(byField.values())
  // A plan may fetch such fields although its operation does not select them.
  const always = [...byField].filter(([name]) => inFieldSets.has(name)).map(([, labels]) => labels)
  const known = new WeakMap<DocumentNode, readonly string[]>()
  return {
    all,
    touchedBy(document) {
      let touched = known.get(document)
      if (!touched) {
        const found = new Set(always)
        const info = new TypeInfo(schema)
        const Field = ({ name }: FieldNode) => {
          const parent = info.getParentType()
          // By name alone where it may stand for fields of implementations, which clients need not know.
          const labels = isObjectType(parent) ? byCoordinate.get(`${parent.name}.${name.value}`) : byField.get(name.value)
          if (labels) found.add(labels)
        }
        visit(document, visitWithTypeInfo(info, { Field }))
        touched = sortedLabels(found)
        known.set(document, touched)
      }
      return touched
    },
  }
}

/** A supergraph whose labels have names that no planner reads a percentage from, and these names by label. */
export interface PlainLabels {
  readonly sdl: string
  readonly names: ReadonlyMap<string, string>
}

/** Gives every label of a supergraph a plain name (`label0`). A text without labels is returned as it is. */
export function withPlainLabels(sdl: string): PlainLabels {
  const names = new Map<string, string>()
  if (!/overrideLabel:\s*"/.test(sdl)) return { sdl, names }
  const renamed = visit(parse(sdl, { noLocation: true }), {
    Directive: node => (node.name.value === 'join__field' ? undefined : false),
    Argument(node) {
      if (!isLabel(node)) return
      const label = String(valueFromASTUntyped(node.value))
      const name = names.get(label) ?? `label${names.size}`
      names.set(label, name)
      return { ...node, value: { kind: Kind.STRING, value: name } }
    },
  })
  return { sdl: print(renamed), names }
}

const isLabel = ({ name, value }: ArgumentNode): boolean => name.value === 'overrideLabel' && value.kind === Kind.STRING

const labelsOf = (directives: readonly DirectiveNode[] | undefined): string[] =>
  (directives ?? [])
    .filter(({ name }) => name.value === 'join__field')
    .flatMap(({ arguments: given = [] }) => given.filter(isLabel).map(({ value }) => String(valueFromASTUntyped(value))))

const sortedLabels = (sets: Iterable<ReadonlySet<string>>): readonly string[] => [...new Set([...sets].flatMap(labels => [...labels]))].sort()

function namesInFieldSets(directives: readonly DirectiveNode[] | undefined): string[] {
  return (directives ?? [])
    .filter(({ name }) => name.value === 'join__type' || name.value === 'join__field')
    .flatMap(({ arguments: given = [] }) => given.filter(({ name }) => withFieldSets.has(name.value)))
    .flatMap(({ value }) => JSON.stringify(valueFromASTUntyped(value)).match(/[_A-Za-z]\w*/g) ?? [])
}
