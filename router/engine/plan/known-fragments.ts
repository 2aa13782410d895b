import { type GraphQLCompositeType, type GraphQLSchema, isAbstractType, isUnionType } from 'graphql'

/**
 * Whether a fragment's type condition adds nothing: it names the type itself, or an interface that the type implements.
 * Such fragments are replaced by their selections before planning.
 */
export const saysWhatIsKnown = (condition: GraphQLCompositeType, parent: GraphQLCompositeType, schema: GraphQLSchema): boolean =>
  condition === parent || (isAbstractType(condition) && !isUnionType(parent) && schema.isSubType(condition, parent))
