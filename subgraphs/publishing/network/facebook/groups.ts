/** Why groups are listed and take nothing, where an operator has not allowed them. */
export const groupsAreOff = 'Facebook gives no application access to groups since April 2024, and whoever operates the platform has not allowed them.'
