import { errorCauses, Supergraph } from '@apollo/federation-internals'
import { type DocumentNode, type GraphQLError, type GraphQLSchema, Kind, parse, validateSchema, visit } from 'graphql'
import { clientSchema, variantDocument } from '../router/engine/supergraph.ts'
import type { Mistake } from './source/mistake.ts'
import type { ListedVariant } from './source/yaml.ts'

/** Folder of the variants' schemas: `<name>.graphql` as generated, and `<name>.released.graphql` as clients rely on it. */
export const variantsFolder = 'schema/variants'

export const variantFile = (name: string): string => `${variantsFolder}/${name}.graphql`
export const variantReleasedFile = (name: string): string => `${variantsFolder}/${name}.released.graphql`

/** The clients' schema of a variant. */
export interface VariantSchema {
  readonly name: string
  readonly schema: GraphQLSchema
}

/**
 * Derives the schemas of variants from a composed supergraph. Apollo's own check of inaccessible elements finds what
 * cannot be hidden, such as an argument that is required.
 * @param at returns a mistake at the definition of a `Type` or `Type.field`
 */
export function deriveVariants(
  supergraphSdl: string,
  variants: readonly ListedVariant[],
  at: (coordinate: string | undefined, code: string, text: string) => Mistake,
): { readonly schemas: readonly VariantSchema[]; readonly mistakes: readonly Mistake[] } {
  if (variants.length === 0) return { schemas: [], mistakes: [] }
  const document = parse(supergraphSdl, { noLocation: true })
  const [api, tags] = [clientSchema(document), tagsIn(document)]
  const schemas: VariantSchema[] = []
  const mistakes: Mistake[] = []
  for (const { name, rule, line } of variants) {
    const inYaml = (code: string, text: string) => mistakes.push({ file: 'supergraph.yaml', line, column: 3, code, text: `variants.${name} ${text}` })
    if (api.getType(name)) inYaml('VARIANT_NAME', `has the name of a type, whose page of the reference is at /docs/graph/${name}: choose another one`)
    const unknown = [...(rule.include ?? []), ...(rule.exclude ?? [])].filter(tag => !tags.has(tag))
    for (const tag of unknown) inYaml('TAG_UNKNOWN', `names the tag ${tag}, which nothing has: write @tag(name: "${tag}") where it applies`)
    if (unknown.length > 0) continue
    const shown = variantDocument(document, rule)
    const errors = errorsOf(shown)
    for (const { message, extensions } of errors) {
      if (extensions.code === 'QUERY_ROOT_TYPE_INACCESSIBLE') inYaml('VARIANT_EMPTY', 'shows no field of Query: every graph has one')
      else
        mistakes.push(
          at(coordinateIn(message), 'VARIANT_INVALID', `variant ${name}: ${message.replaceAll('@inaccessible', 'hidden').replaceAll(/\s*\n\s*/g, ' ')}`),
        )
    }
    if (errors.length === 0) schemas.push({ name, schema: clientSchema(shown) })
  }
  return { schemas, mistakes }
}

/** Adds what makes `@inaccessible` known to Apollo's check. */
const inaccessibleFeature = parse(
  `extend schema @link(url: "https://specs.apollo.dev/inaccessible/v0.2", for: SECURITY)
  directive @inaccessible on FIELD_DEFINITION | OBJECT | INTERFACE | UNION | ARGUMENT_DEFINITION | SCALAR | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION`,
  { noLocation: true },
).definitions

function errorsOf(document: DocumentNode): readonly GraphQLError[] {
  const isKnown = document.definitions.some(node => node.kind === Kind.DIRECTIVE_DEFINITION && node.name.value === 'inaccessible')
  const whole = isKnown ? document : { ...document, definitions: [...document.definitions, ...inaccessibleFeature] }
  try {
    Supergraph.build(whole, { supportedFeatures: null, validateSupergraph: false }).apiSchema()
  } catch (error) {
    const causes = errorCauses(error as Error)
    if (!causes) throw error
    return causes
  }
  return validateSchema(clientSchema(document))
}

/** Returns the coordinate that a message names first and that is shown: where something can be done. */
function coordinateIn(message: string): string | undefined {
  const named = [...message.matchAll(/"(\w+(?:\.\w+)?)(?:\([^"]*\))?"/g)].map(found => found[1]!)
  return named.find(name => name.includes('.')) ?? named[0]
}

/** Returns the names of all tags of a document. */
function tagsIn(document: DocumentNode): ReadonlySet<string> {
  const tags = new Set<string>()
  visit(document, {
    Directive({ name, arguments: given = [] }) {
      if (name.value === 'tag') for (const { value } of given) if (value.kind === Kind.STRING) tags.add(value.value)
    },
  })
  return tags
}
