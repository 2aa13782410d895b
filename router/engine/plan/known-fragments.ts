import { type GraphQLCompositeType, type GraphQLSchema, isAbstractType, isUnionType } from 'graphql'

/**
 * Whether a fragment's condition says of a place what is known there already: the type itself, or one that it implements. Such
 * fragments are left out of what is planned, and what they select stands in their place.
 */
export const saysWhatIsKnown = (condition: GraphQLCompositeType, parent: GraphQLCompositeType, schema: GraphQLSchema): boolean =>
  condition === parent || (isAbstractType(condition) && !isUnionType(parent) && schema.isSubType(condition, parent))
