export const fontPackages: string[];
