# perl's workload: records built from strings, hashed, matched, joined and sorted.
use strict;
use warnings;

my $rounds = shift;
my $total  = 0;
for my $round (1 .. $rounds) {
    my (%by_key, @lines);
    for my $i (1 .. 6000) {
        my $key  = sprintf("key%d", ($i * 7919) % 997);
        my $line = join(",", $round, $i, $key, "x" x ($i % 40), $i * 31 % 1009);
        push @lines, $line;
        push @{ $by_key{$key} }, { number => $i, line => $line };
    }
    for my $line (@lines) {
        my @fields = split /,/, $line;
        $total += $fields[4] if $line =~ /key(\d+)5,x*,/;
        (my $changed = $line) =~ s/x+/y/g;
        $total += length $changed;
    }
    for my $key (sort keys %by_key) {
        my @sorted = sort { $b->{number} <=> $a->{number} } @{ $by_key{$key} };
        $total += $sorted[0]{number};
    }
}
print "$total\n";
