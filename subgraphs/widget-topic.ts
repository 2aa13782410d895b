/**
 * The topic on which a service tells that its widget of one organization may show something else now. The service
 * announces it, the launcher listens: neither knows the other.
 */
export const widgetTopic = (slug: string, organizationId: string): string => `widget.${slug}.${organizationId}`
