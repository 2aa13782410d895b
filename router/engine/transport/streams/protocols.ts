/**
 * Protocols of subscriptions at subgraphs: graphql-transport-ws over WebSocket, GraphQL over server-sent events, and
 * Apollo's multipart and HTTP callback protocols.
 */
export const subscriptionProtocols = ['graphql-ws', 'sse', 'multipart', 'callback'] as const

export type SubscriptionProtocol = (typeof subscriptionProtocols)[number]
